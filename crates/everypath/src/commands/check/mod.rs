//! `everypath check`: explore a native program.

mod report;

use super::read_trace;
use crate::cli::CheckArgs;
use crate::output::{self, Formats, Json, OutputFile};
use crate::refinement::specification;
use crate::usage::Usage;
use crate::watch::{Stopped, Watch, concluded, executed, explored};
use crate::{DEFECT, HOLDS, INCONCLUSIVE, USAGE, VIOLATED};
use everypath_check::{Check, Limits, Observer, Report, Search, Verdict};
use everypath_model::Catalog;
use everypath_report::CheckResult;
use everypath_trace::{CheckConfig, Control, Progress, Target, Trace, file};
use report::JsonCheck;
use std::path::Path;

/// Where counterexamples go if nobody says.
const DEFAULT_TRACE: &str = "everypath-trace.json";

/// Explores a program and reports what was found.
pub(crate) fn run(catalog: &Catalog, args: &CheckArgs) -> Result<u8, Usage> {
    let config = args.config()?;
    let specification = specification(catalog, config.refines.as_deref())?;
    let json = Json::new(args.output.json.as_deref())?;
    let trace = OutputFile::new("--trace", &args.output.trace)?;
    if args.output.json.as_deref() == Some(&args.output.trace) && !trace.is_special() {
        return Err(Usage::new("--json and --trace name the same file; choose two"));
    }
    let formats = Formats::new(args.output.junit.as_deref(), args.output.sarif.as_deref())?;
    let emit = config.emit.as_deref().map(|path| OutputFile::new("--emit", path)).transpose()?;
    let quiet = args.output.quiet;
    let say = |report: &Report| -> Result<u8, Usage> {
        json.write(&JsonCheck::new(report))?;
        if !matches!(json, Json::Stdout) {
            output::report(&report::text(report), quiet, report.verdict);
        }
        formats.write(&result(report), matches!(json, Json::Stdout))?;
        Ok(exit_code(report))
    };
    let give_up = |search: Search, why: Stopped, progress: Progress| {
        let unconfirmed = match search {
            Search::Counterexample => "; the search had ended, but its result was not confirmed",
            Search::Executions | Search::Histories => "",
        };
        let report = Report::stopped(&config, format!("{why}{unconfirmed}"), progress);
        say(&report).unwrap_or_else(|usage| {
            output::error(&usage.to_string());
            USAGE
        })
    };
    let check = Check::new(config.clone()).refining(specification);
    let mut watching = Watching { quiet, give_up: &give_up };
    let mut report = check.run(&mut watching).map_err(|error| Usage::new(error.to_string()))?;
    if let Some(found) = &report.trace {
        trace.write_or_say(&file::to_bytes(found))?;
        if let Some(violation) = &mut report.violation {
            violation.trace = trace.path();
        }
    }
    write_samples(&mut report, &args.output.trace)?;
    if report.verdict == Verdict::Holds && args.output.trace == Path::new(DEFAULT_TRACE) {
        set_aside(&trace, &config);
    }
    if let (Some(file), Some(found)) = (emit, &report.failure_file) {
        file.write_or_say(&found.to_bytes())?;
    }
    say(&report)
}

/// Writes passing executions beside where the counterexample would be: `NAME-sample-1.json` and so on.
fn write_samples(report: &mut Report, trace: &Path) -> Result<(), Usage> {
    let stem = trace.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let samples = report.samples.iter().zip(&mut report.sample_traces);
    for ((found, named), number) in samples.zip(1..) {
        let path = trace.with_file_name(format!("{stem}-sample-{number}.json"));
        OutputFile::new("--trace", &path)?.write_or_say(&file::to_bytes(found))?;
        named.file = path.display().to_string();
    }
    Ok(())
}

/// The report, as far as formats of others can say it.
fn result(report: &Report) -> CheckResult<'_> {
    CheckResult {
        target: &report.target,
        verdict: report.verdict,
        text: report.reason.as_deref().unwrap_or(report.coverage.coverage.kind()),
        seconds: report.stats.seconds,
        trace: report.trace.as_ref(),
        trace_file: report.violation.as_ref().map_or("", |violation| &violation.trace),
    }
}

/// Renames the trace of an earlier run of the same check, which now holds: else somebody might take it
/// for the result of this one.
fn set_aside(trace: &OutputFile, config: &CheckConfig) {
    let is_same = |known: &Trace| matches!(&known.target, Target::Native { config: then, .. } if **then == *config);
    if read_trace(Path::new(DEFAULT_TRACE)).is_ok_and(|known| is_same(&known))
        && let Some(to) = trace.set_aside()
    {
        output::warning(&format!(
            "{DEFAULT_TRACE} is of an earlier run of this check, which now holds: renamed to {to}"
        ));
    }
}

fn exit_code(report: &Report) -> u8 {
    match report.verdict {
        Verdict::Holds => HOLDS,
        Verdict::Violated => VIOLATED,
        Verdict::Inconclusive if report.internal_error => DEFECT,
        Verdict::Inconclusive => INCONCLUSIVE,
    }
}

/// Shows the progress of searches, and stops them at their limits and by Ctrl-C.
struct Watching<'a> {
    quiet: bool,
    give_up: &'a (dyn Fn(Search, Stopped, Progress) -> u8 + Sync),
}

impl Observer for Watching<'_> {
    fn watch(
        &mut self,
        search: Search,
        limits: Limits,
        run: &mut dyn FnMut(&Control),
    ) -> Option<String> {
        let give_up = |why: Stopped, progress: Progress| (self.give_up)(search, why, progress);
        let seconds = limits.seconds.map(f64::from);
        let watch = Watch::new(seconds, limits.bytes(), self.quiet);
        let mut watch = watch.giving_up(&give_up, limits.time());
        if limits.is_over {
            // What a stopped search used is not given back at once.
            watch = watch.with_any_memory();
        }
        let line = match search {
            Search::Executions => executed,
            Search::Histories => explored,
            Search::Counterexample => concluded,
        };
        let shown = |control: &Control, elapsed| line(control.progress(), elapsed);
        let ((), _, stopped) = watch.run_showing(shown, run);
        stopped.map(|why| why.to_string())
    }
}
