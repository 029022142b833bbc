// The whole page: header, keys, filters, and what is below the chart.
(() => {
  const count = data.steps.length;
  let current = Math.min(count, Math.max(1, data.critical || (data.property ? count : 1))), marked = null, folds = true;
  const opened = new Set();
  const query = byId("query"), selects = { lane: byId("lane"), object: byId("object"), connection: byId("connection") };

  function verdict() {
    if (!data.property) return [el("span", { class: "badge good" }, "PASSED"), el("h1", {}, `an execution of ${data.target}`)];
    return [el("span", { class: "badge" }, "VIOLATED"), el("h1", {}, `${data.property} in ${data.target}`), el("p", { class: "why" }, data.why)];
  }

  function header() {
    const critical = data.critical;
    let said = null;
    if (critical === 0) said = [el("b", {}, "Every schedule fails.")];
    else if (critical) {
      const rival = data.race.find((step) => step !== critical);
      const other = data.rival || (rival ? `${data.lanes[data.steps[rival - 1].lane].name} ${data.steps[rival - 1].text} (${named(rival)})` : "");
      said = [el("b", {}, el("a", { class: "jump", href: `#step=${critical}` }, `Critical step ${numbered(critical)}`)), data.exact ? ": every continuation fails. " : " at the latest: every continuation fails. ", other ? `It races with: ${other}; reversing the pair avoids the failure.` : ""];
    }
    byId("head").append(...verdict(), ...(said ? [el("p", { class: "why" }, said)] : []), el("div", { class: "facts" }, data.facts.map(([name, value]) => el("span", {}, ...(name.endsWith(" by") ? [`${name} `, el("b", {}, value)] : [el("b", {}, value), ` ${name}`])))));
  }

  function active() {
    return query.value || selects.lane.value || selects.object.value || selects.connection.value;
  }

  function matches(step) {
    const it = data.steps[step - 1], text = query.value.toLowerCase();
    const said = () => [data.lanes[it.lane].name, it.text, it.place, it.object, it.event, it.fault, ...connections[step - 1]].join(" ").toLowerCase();
    return (!text || said().includes(text)) && (!selects.lane.value || it.lane === +selects.lane.value) && (!selects.object.value || it.object === selects.object.value) && (!selects.connection.value || connections[step - 1].includes(selects.connection.value));
  }

  function arrange() {
    chart.arrange(active() ? matches : null, folds, opened);
    const visible = chart.rows().filter((row) => row.step).map((row) => row.step);
    if (active() && visible.length && !visible.includes(current)) current = visible[0];
    byId("legend").textContent = legend(visible.length);
    show();
  }

  function legend(shown) {
    const parts = ["● step"];
    if (spans.some((span) => span.kind === HOLD)) parts.push("bar: holds a lock");
    if (spans.some((span) => span.kind === WAIT)) parts.push("dashed red: blocked");
    if (flights.length) parts.push("arrow: message, ✕ lost");
    if (data.steps.some((step) => step.after)) parts.push("dashed blue: happens before");
    if (active()) parts.push(`${shown} of ${count} steps match`);
    return parts.join(" · ");
  }

  function show() {
    byId("at").textContent = count ? recorded === count ? `${current} / ${count}` : `${current} / ${count} rows` : "no steps";
    chart.select(current, marked);
    details.show(current, marked);
    try { history.replaceState(null, "", `#step=${current}`); } catch { /* a page without an address */ }
  }

  function go(step) {
    if (!count) return;
    current = Math.max(1, Math.min(count, step));
    const row = chart.rows()[chart.rowOf(current)];
    if (row && row.fold && !active()) { opened.add(row.fold); chart.arrange(null, folds, opened); }
    show();
  }

  // To the next row, whatever is folded or filtered away.
  function move(by) {
    const rows = chart.rows();
    let at = chart.rowOf(current) + by;
    while (rows[at] && rows[at].fold) at += by;
    if (rows[at]) go(rows[at].step);
  }

  function preemption() {
    for (let by = 1; by <= count; by++) {
      const step = ((current - 1 + by) % count) + 1;
      if (data.steps[step - 1].preempts) return go(step);
    }
  }

  function toggleFold() {
    folds = !folds;
    opened.clear();
    byId("fold").setAttribute("aria-pressed", folds);
    arrange();
  }

  function clear() {
    query.value = "";
    for (const select of Object.values(selects)) select.value = "";
    marked = null;
    arrange();
  }

  function options(select, name, values) {
    select.append(el("option", { value: "" }, name), ...values.map(([value, text]) => el("option", { value }, text)));
    if (!values.length) select.hidden = true;
  }

  function schedules() {
    const column = (title, steps) => {
      const shown = steps.slice(0, 3000);
      let before = null;
      const items = shown.map(([actor, text, preempts], number) => {
        const lane = data.lanes.findIndex((it) => it.name === actor), switched = before !== null && actor !== before;
        before = actor;
        return el("li", { class: switched ? "switch" : "" }, el("span", {}, String(number + 1)), el("span", {}, el("b", { style: lane < 0 ? "" : `color:${color(lane)}` }, actor), ` ${text}`, preempts ? el("span", { class: "tag warn" }, "preemption") : null));
      });
      if (steps.length > shown.length) items.push(el("li", {}, `… ${steps.length - shown.length} more`));
      return el("div", {}, el("h2", {}, `${title}: ${steps.length} steps, ${steps.filter((step) => step[2]).length} preemptions`), el("ol", {}, items));
    };
    const minimised = data.steps.filter((step, at) => data.numbers[at] !== null).map((step) => [data.lanes[step.lane].name, step.text + (step.place ? `, ${step.place}` : ""), step.preempts ? 1 : 0]);
    return el("div", { class: "side" }, column("Found", data.found), column("Minimised", minimised));
  }

  function below() {
    const more = byId("more");
    if (data.replay) {
      const copy = el("button", { type: "button", onclick: () => { navigator.clipboard?.writeText(data.replay).then(() => { copy.textContent = "copied"; }, () => {}); } }, "copy");
      more.append(el("details", { open: true }, el("summary", {}, "Replay it"), el("p", { class: "command" }, el("code", {}, data.replay), copy)));
    }
    if (data.found.length) {
      const both = el("details", { id: "schedules" }, el("summary", {}, "The schedule that was found, and the minimised one"));
      both.addEventListener("toggle", () => { if (both.open && both.children.length === 1) both.append(schedules()); });
      more.append(both);
    }
    if (data.assumptions.length) more.append(el("details", { open: true }, el("summary", {}, "What this rests on"), el("ul", {}, data.assumptions.map((text) => el("li", {}, text)))));
  }

  function keys(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, select")) {
      if (event.key === "Escape") { event.target.blur(); clear(); }
      return;
    }
    const actions = { j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1), Home: () => go(1), End: () => go(count), g: () => go(1), G: () => go(count), c: () => data.critical && go(data.critical), p: preemption, f: toggleFold, m: () => { marked = marked === current ? null : current; show(); }, "/": () => query.focus(), Escape: clear };
    const action = actions[event.key];
    if (action) { event.preventDefault(); action(); }
  }

  function listen() {
    const click = (id, action) => byId(id).addEventListener("click", action);
    click("prev", () => move(-1));
    click("next", () => move(1));
    click("first", () => go(1));
    click("last", () => go(count));
    click("critical", () => go(data.critical));
    click("preemption", preemption);
    click("fold", toggleFold);
    byId("critical").hidden = !data.critical;
    byId("preemption").hidden = !data.steps.some((step) => step.preempts);
    byId("rows").addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row?.dataset.fold) { opened.add(+row.dataset.fold); arrange(); } else if (row) go(+row.dataset.step);
    });
    query.addEventListener("input", arrange);
    for (const select of Object.values(selects)) select.addEventListener("change", arrange);
    document.addEventListener("keydown", keys);
    window.addEventListener("hashchange", fromAddress);
  }

  function fromAddress() {
    const step = /^#step=(\d+)$/.exec(location.hash);
    if (step) go(+step[1]);
  }

  const objects = [...new Set(data.steps.map((step) => step.object).filter(Boolean))].sort();
  options(selects.lane, "all lanes", data.lanes.flatMap((lane, number) => (lane.outside ? [] : [[number, lane.name]])));
  options(selects.object, "all objects", objects.slice(0, 500).map((name) => [name, name]));
  options(selects.connection, "all connections", [...new Set(connections.flat())].slice(0, 500).map((name) => [name, name]));
  header();
  below();
  listen();
  arrange();
  fromAddress();
})();
