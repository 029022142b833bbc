//! The page, used as a person would: headless Chromium opens it, presses keys and clicks.

use super::html;
use crate::fixtures;
use everypath_trace::{Config, Line, Span, SpanKind, Target, Trace};
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use xtask::browser::Browser;

const DESKTOP: (u32, u32) = (1280, 900);
const PHONE: (u32, u32) = (390, 844);

/// A browser with the page of a trace, if there is one.
fn opened(trace: &Trace, size: (u32, u32)) -> Option<(Browser, TempDir)> {
    let mut browser = Browser::start().unwrap()?;
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let words = crate::text(trace, "everypath replay", "trace.json");
    fs::write(&page, html(trace, &words, "everypath replay trace.json")).unwrap();
    browser.resize(size, false).unwrap();
    browser.open_file(&page).unwrap();
    Some((browser, folder))
}

/// Pictures for people who work on the page: of every state that a test looks at.
#[expect(clippy::disallowed_methods, reason = "whoever wants pictures says where")]
fn picture(browser: &mut Browser, name: &str) {
    if let Some(folder) = std::env::var_os("EVERYPATH_SCREENSHOTS") {
        browser.screenshot(&Path::new(&folder).join(name)).unwrap();
    }
}

fn at(browser: &mut Browser) -> String {
    browser.text("#at").unwrap()
}

#[test]
fn a_deadlock_is_stepped_through_with_keys_and_clicks() {
    let Some((mut browser, _folder)) = opened(&fixtures::deadlock(), DESKTOP) else { return };
    let head = browser.text("#head").unwrap();
    assert!(head.contains("VIOLATED") && head.contains("deadlock in ./philosophers"), "{head}");
    assert!(head.contains("Critical step 11"), "{head}");
    assert_eq!(at(&mut browser), "11 / 13", "it begins at the critical step");
    picture(&mut browser, "deadlock-1280.png");
    let details = browser.text("#details").unwrap();
    for what in
        ["locks mutex forks[2]", "pthread_mutex_lock(&forks[left]);", "+ holds mutex forks[2]"]
    {
        // The sign of what is new is drawn by the style sheet.
        let what = what.trim_start_matches("+ ");
        assert!(details.contains(what), "{what}: {details}");
    }
    let plus = "[...document.querySelectorAll('.item.plus')].map(it => it.innerText).join()";
    assert_eq!(browser.evaluate(plus).unwrap(), "holds mutex forks[2]");
    browser.press("j").unwrap();
    assert_eq!(at(&mut browser), "12 / 13");
    assert_eq!(browser.evaluate(plus).unwrap(), "waits for mutex forks[0]");
    browser.press("k").unwrap();
    browser.press("ArrowUp").unwrap();
    assert_eq!(at(&mut browser), "10 / 13");
    browser.press("p").unwrap();
    assert_eq!(at(&mut browser), "7 / 13", "the preemption");
    browser.press("c").unwrap();
    assert_eq!(at(&mut browser), "11 / 13");
    browser.click(".row[data-step='6']").unwrap();
    assert_eq!(at(&mut browser), "6 / 13");
    browser.press("End").unwrap();
    assert_eq!(at(&mut browser), "13 / 13");
    let details = browser.text("#details").unwrap();
    assert!(details.contains("thread 2 waits for a mutex"), "where it ends: {details}");
    let cycle = browser.text("svg.cycle").unwrap_or_default();
    let labels = browser.evaluate("document.querySelector('svg.cycle').textContent").unwrap();
    let labels = labels.as_str().unwrap().to_string() + &cycle;
    assert!(labels.contains("mutex forks[0]") && labels.contains("thread 3"), "{labels}");
    // Two steps are compared.
    browser.press("m").unwrap();
    browser.press("g").unwrap();
    let details = browser.text("#details").unwrap().to_lowercase();
    assert!(details.contains("compared with step 1"), "{details}");
}

/// Two threads that wait for each other have an arrow and a name each, which do not cover each other.
#[test]
fn the_shortest_cycle_is_readable() {
    let mut trace = fixtures::deadlock();
    trace.spans.retain(|span| span.kind == SpanKind::Hold);
    for (actor, object, awaits) in
        [("thread 1", "mutex b", "thread 2"), ("thread 2", "mutex a", "thread 1")]
    {
        let (actor, object, awaits) = (actor.into(), object.into(), Some(awaits.into()));
        trace.spans.push(Span { kind: SpanKind::Wait, actor, object, from: 12, to: None, awaits });
    }
    let Some((mut browser, _folder)) = opened(&trace, DESKTOP) else { return };
    picture(&mut browser, "cycle-of-two-1280.png");
    let covered = "(() => { const texts = [...document.querySelectorAll('svg.cycle text')].map(it => \
                   it.getBoundingClientRect()); const apart = (a, b) => a.right <= b.left || b.right <= \
                   a.left || a.bottom <= b.top || b.bottom <= a.top; return texts.length + ' ' + \
                   texts.every((a, i) => texts.every((b, j) => i >= j || apart(a, b))); })()";
    assert_eq!(browser.evaluate(covered).unwrap(), "4 true");
}

#[test]
fn steps_are_filtered_by_words_threads_and_objects() {
    let Some((mut browser, _folder)) = opened(&fixtures::deadlock(), DESKTOP) else { return };
    let rows = "[...document.querySelectorAll('.row')].map(it => it.dataset.step).join()";
    assert_eq!(browser.evaluate(rows).unwrap(), "1,2,3,4,5,6,7,8,9,10,11,12,13");
    browser.press("/").unwrap();
    browser.type_text("forks[0]").unwrap();
    assert_eq!(browser.evaluate(rows).unwrap(), "8,12");
    browser.press("Escape").unwrap();
    let choose = |id: &str, value: &str| {
        format!(
            "(() => {{ const it = document.getElementById('{id}'); it.value = '{value}'; \
             it.dispatchEvent(new Event('change')); }})()"
        )
    };
    browser.evaluate(&choose("lane", "3")).unwrap();
    assert_eq!(browser.evaluate(rows).unwrap(), "10,11,12");
    browser.press("Escape").unwrap();
    browser.evaluate(&choose("object", "mutex forks[1]")).unwrap();
    assert_eq!(browser.evaluate(rows).unwrap(), "6,9");
}

#[test]
fn found_and_minimised_schedule_are_side_by_side() {
    let Some((mut browser, _folder)) = opened(&fixtures::deadlock(), DESKTOP) else { return };
    browser.click("#schedules summary").unwrap();
    browser.wait_until("document.querySelectorAll('.side ol').length === 2").unwrap();
    let tops =
        "[...document.querySelectorAll('.side > div')].map(it => it.getBoundingClientRect().top)";
    let tops = browser.evaluate(tops).unwrap();
    assert_eq!(tops[0], tops[1]);
    let more = browser.text("#more").unwrap();
    assert!(more.contains("everypath replay trace.json"), "{more}");
    assert!(more.contains("Time is virtual."), "{more}");
}

#[test]
fn payloads_are_inert_and_nothing_loads_from_outside() {
    for size in [DESKTOP, PHONE] {
        let Some((mut browser, _folder)) = opened(&fixtures::exchange(), size) else { return };
        for _ in 0..10 {
            browser.press("k").unwrap();
        }
        for _ in 0..6 {
            browser.press("j").unwrap();
        }
        assert_eq!(at(&mut browser), "7 / 10");
        let details = browser.text("#details").unwrap();
        assert!(details.contains("</script><script>window.hacked=1"), "it is text: {details}");
        assert!(!details.contains('\u{202e}'), "nothing is turned around: {details}");
        assert_eq!(browser.evaluate("typeof window.hacked").unwrap(), "undefined");
        let requests = browser.requests();
        assert!(requests.len() == 1 && requests[0].starts_with("file://"), "{requests:?}");
    }
}

#[test]
fn messages_are_arrows_between_lanes() {
    let Some((mut browser, _folder)) = opened(&fixtures::exchange(), DESKTOP) else { return };
    picture(&mut browser, "exchange-1280.png");
    let tips = browser.evaluate("document.querySelectorAll('#lines polygon').length").unwrap();
    assert_eq!(tips, 5, "those that arrive");
    browser.press("Home").unwrap();
    let details = browser.text("#details").unwrap();
    assert!(details.contains("\"GET /a\""), "{details}");
    assert!(details.to_lowercase().contains("in flight"), "{details}");
}

/// At the width of a phone nothing is cut off at the right, in both schemes.
#[test]
fn the_page_fits_a_phone() {
    for (name, trace) in [("deadlock", fixtures::deadlock()), ("exchange", fixtures::exchange())] {
        let Some((mut browser, _folder)) = opened(&trace, PHONE) else { return };
        picture(&mut browser, &format!("{name}-390.png"));
        let width = browser.evaluate("document.documentElement.scrollWidth").unwrap();
        assert_eq!(width, 390, "{name}");
        let visible = "[...document.querySelectorAll('.row .what')].every(it => { const box = \
                       it.getBoundingClientRect(); return box.right <= 391 && box.width > 120; })";
        assert_eq!(browser.evaluate(visible).unwrap(), true, "{name}");
        let cut = "[...document.querySelectorAll('.row .t > span:first-child')].filter(it => \
                   it.scrollHeight > it.clientHeight + 2 || it.scrollWidth > it.clientWidth + 1).length";
        assert_eq!(browser.evaluate(cut).unwrap(), 0, "{name}: steps are read in full");
        browser.resize(PHONE, true).unwrap();
        picture(&mut browser, &format!("{name}-390-dark.png"));
        let ground = browser.evaluate("getComputedStyle(document.body).backgroundColor").unwrap();
        assert_eq!(ground, "rgb(17, 22, 28)", "dark");
        browser.resize(DESKTOP, true).unwrap();
        picture(&mut browser, &format!("{name}-1280-dark.png"));
    }
}

/// Of 5,000 steps few rows are in the document, whichever are looked at. (How long a key takes is
/// measured by `cargo xtask speed`.)
#[test]
fn five_thousand_steps_stay_usable() {
    let Some((mut browser, _folder)) = opened(&fixtures::long(5000), DESKTOP) else { return };
    let few_rows = |browser: &mut Browser| {
        let count = browser.evaluate("document.querySelectorAll('.row').length").unwrap();
        assert!(count.as_u64().is_some_and(|count| (1..120).contains(&count)), "{count}");
    };
    few_rows(&mut browser);
    picture(&mut browser, "long-1280.png");
    browser.press("g").unwrap();
    assert_eq!(at(&mut browser), "1 / 5000");
    few_rows(&mut browser);
    browser.press("f").unwrap();
    browser.press("End").unwrap();
    assert_eq!(at(&mut browser), "5000 / 5000");
    assert!(browser.text(".row.sel").unwrap().contains("5000"));
    few_rows(&mut browser);
    for _ in 0..40 {
        browser.press("k").unwrap();
    }
    assert_eq!(at(&mut browser), "4960 / 5000");
    let in_view = "(() => { const box = document.querySelector('.row.sel').getBoundingClientRect(); \
                   return box.top >= 0 && box.bottom <= innerHeight; })()";
    assert_eq!(browser.evaluate(in_view).unwrap(), true, "the selected step is in view");
}

#[test]
fn states_of_models_are_compared() {
    let mut trace = fixtures::exchange();
    trace.target = Target::Model { name: "arq".into(), config: Config::new(2) };
    trace.initial = vec![Line::new("sender", "seq=0"), Line::new("network", "empty")];
    for (number, step) in trace.steps.iter_mut().enumerate() {
        step.state =
            vec![Line::new("sender", format!("seq={number}")), Line::new("network", "empty")];
    }
    let Some((mut browser, _folder)) = opened(&trace, DESKTOP) else { return };
    browser.press("k").unwrap();
    let changed = "[...document.querySelectorAll('.item.plus, .item.minus')].map(it => it.className + \
                   it.innerText).join()";
    assert_eq!(
        browser.evaluate(changed).unwrap(),
        "item minus\"slow\" (sent in step 5),item plusseq=8,item minusseq=7"
    );
}
