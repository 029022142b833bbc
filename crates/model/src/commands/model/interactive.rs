//! `--interactive`: step through a model by hand.

use super::Plan;
use crate::output;
use crate::usage::Usage;
use crate::{HOLDS, VIOLATED};
use everypath_explore::{AnyModel, Look, Step};
use everypath_trace::Control;
use std::io::{self, BufRead, Write};

const HELP: &str = "\
a number  take this step          u [N]     undo the last N steps
j N       go back to step N       r         run to the nearest violation from here
s         show the state again    p         print the steps so far
w         write the trace         q         quit
";

/// Reads commands from standard input until it ends.
pub(super) fn run(model: &dyn AnyModel, plan: &Plan) -> Result<u8, Usage> {
    let mut session = Session { model, plan, schedule: Vec::new(), violated: false };
    output::print(HELP);
    session.show()?;
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| Usage::new(format!("cannot read commands: {error}")))?;
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] => {}
            ["q" | "quit" | "exit"] => break,
            ["s" | "show"] => session.show()?,
            ["p" | "print"] => session.print(),
            ["u" | "undo"] => session.back(session.schedule.len().saturating_sub(1))?,
            ["u" | "undo", count] => match count.parse::<usize>() {
                Ok(count) => session.back(session.schedule.len().saturating_sub(count))?,
                Err(_) => output::print("u takes a number of steps\n"),
            },
            ["j" | "jump", step] => match step.parse() {
                Ok(step) => session.back(step)?,
                Err(_) => output::print("j takes the number of a step\n"),
            },
            ["r" | "run"] => session.run_to_violation()?,
            ["w" | "write"] => session.write()?,
            [number] if number.parse::<usize>().is_ok() => {
                session.take(number.parse().unwrap_or(0))?;
            }
            _ => output::print(HELP),
        }
    }
    Ok(if session.violated { VIOLATED } else { HOLDS })
}

struct Session<'a> {
    model: &'a dyn AnyModel,
    plan: &'a Plan,
    schedule: Vec<Step>,
    /// Whether the current state violates anything.
    violated: bool,
}

impl Session<'_> {
    fn look(&self) -> Result<Look, Usage> {
        self.model.look(&self.schedule).map_err(Usage::new)
    }

    /// The steps that can be taken, without those that are switched off.
    fn enabled(&self) -> Result<Look, Usage> {
        let mut look = self.look()?;
        let off = &self.plan.request.search.disabled;
        look.enabled.retain(|(step, _)| !off.contains(&step.event));
        look.violated.retain(|(name, _)| {
            self.plan.request.properties.contains(name) || name == everypath_explore::PANIC
        });
        Ok(look)
    }

    fn show(&mut self) -> Result<(), Usage> {
        let look = self.enabled()?;
        self.violated = !look.violated.is_empty();
        let width = look.state.iter().map(|line| line.part.chars().count()).max().unwrap_or(0);
        let plural = if self.schedule.len() == 1 { "" } else { "s" };
        let mut out = format!("State after {} step{plural}\n", self.schedule.len());
        for line in &look.state {
            out += &format!("  {:width$}  {}\n", line.part, line.text);
        }
        for (name, why) in &look.violated {
            out += &format!("VIOLATED: {name}: {why}\n");
        }
        for (number, (_, words)) in look.enabled.iter().enumerate() {
            out += &format!(
                "{number:4}  {words}
"
            );
        }
        if look.enabled.is_empty() {
            out += "Nothing can happen any more.\n";
        }
        output::print(&out);
        // Somebody may wait for it.
        let _ = io::stdout().flush();
        Ok(())
    }

    fn take(&mut self, number: usize) -> Result<(), Usage> {
        match self.enabled()?.enabled.get(number) {
            Some(&(step, _)) => {
                self.schedule.push(step);
                self.show()
            }
            None => {
                output::print(&format!("there is no step {number}\n"));
                Ok(())
            }
        }
    }

    fn back(&mut self, steps: usize) -> Result<(), Usage> {
        self.schedule.truncate(steps);
        self.show()
    }

    fn print(&self) {
        let mut out = String::new();
        for done in 0..self.schedule.len() {
            let step = self.schedule[done];
            let look = self.model.look(&self.schedule[..done]);
            let choices = look.map(|look| look.enabled).unwrap_or_default();
            if let Some((_, words)) = choices.into_iter().find(|(other, _)| *other == step) {
                out += &format!("{:4}  {words}\n", done + 1);
            }
        }
        output::print(&out);
    }

    /// Breadth-first from here, by schedules that extend this one.
    fn run_to_violation(&mut self) -> Result<(), Usage> {
        let found =
            self.model.explore_from(&self.schedule, &self.plan.request, &Control::default());
        match found {
            Ok(Some(found)) => {
                self.schedule = found.schedule;
                self.show()
            }
            Ok(None) => {
                output::print("No violation can be reached from here within the bounds.\n");
                Ok(())
            }
            Err(why) => {
                output::print(&format!("the search from here did not come to its end: {why}\n"));
                Ok(())
            }
        }
    }

    /// Writes the steps so far as a trace, if the state violates something.
    fn write(&self) -> Result<(), Usage> {
        let look = self.enabled()?;
        let Some((property, message)) = look.violated.into_iter().next() else {
            output::print("this state violates nothing; a trace is of a violation\n");
            return Ok(());
        };
        let schedule = self.schedule.clone();
        let found = everypath_explore::Found { property, message, schedule, loop_start: None };
        let trace = self.model.describe(&found, self.plan.record.clone()).map_err(Usage::new)?;
        self.plan.trace.write_or_say(&everypath_trace::file::to_bytes(&trace))?;
        output::print(&format!("written to {}\n", self.plan.trace.path()));
        Ok(())
    }
}
