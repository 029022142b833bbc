//! Refinement: whether the events that a program logs are paths of a model.

use crate::catalog::{Catalog, Entry};
use crate::cli::{BuildArgs, NetworkArgs};
use crate::log::{self, Comparison, Judged};
use crate::usage::Usage;
use clap::Parser;
use everypath_explore::AnyModel;
use std::fmt;

/// How many of the steps that a model allows are named.
const NAMED: usize = 6;

/// A model, and how it is built.
#[derive(Debug, Parser)]
#[command(name = "--refines", no_binary_name = true, disable_help_flag = true)]
struct Words {
    name: String,

    #[command(flatten)]
    build: BuildArgs,

    #[command(flatten)]
    network: NetworkArgs,

    #[arg(long, value_name = "EVENT")]
    hidden: Vec<String>,

    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// A model that native programs are compared with.
pub struct Specification {
    entry: Entry,
    model: Box<dyn AnyModel>,
    hidden: Vec<u16>,
}

impl fmt::Debug for Specification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Specification").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl Specification {
    /// The model that some words of a command line describe: its name, and options of `model` that say
    /// how it is built.
    pub fn new(catalog: &Catalog, words: &str) -> Result<Self, Usage> {
        let wrong = |why: &str| Usage::new(format!("--refines '{words}': {why}"));
        let args = Words::try_parse_from(words.split_whitespace()).map_err(|error| {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            let first = match words.trim().is_empty() {
                true => "it is empty",
                false => first.trim_start_matches("error: "),
            };
            wrong(&format!(
                "{first}; give the name of a model, perhaps with --nodes, --topology, --bug, --feature, \
                 --set, --duplicate, --faults or --hidden"
            ))
        })?;
        let usage = |error: Usage| wrong(&error.to_string());
        let entry = *catalog.find(&args.name).map_err(usage)?;
        let model = args.network.build(&entry, (&args.build, false), args.seed).map_err(usage)?;
        let hidden = args.hidden.iter().map(|name| entry.event(name).map_err(usage));
        let hidden = hidden.collect::<Result<_, _>>()?;
        Ok(Specification { entry, model, hidden })
    }

    /// The name of the model.
    pub fn name(&self) -> &str {
        self.entry.kind.name
    }

    /// What is wrong with the events that an execution has logged, a JSON object each, if anything. An
    /// error says why that cannot be told.
    pub fn judge(&self, events: &[&str]) -> Result<Option<String>, String> {
        let (entry, model) = (&self.entry, self.model.as_ref());
        let comparison = Comparison { entry, model, hidden: self.hidden.clone() };
        let read = (1..).zip(events).map(|(number, line)| {
            log::line_of(line).map_err(|why| format!("event {number} of the log, {line}: {why}"))
        });
        let name = self.name();
        match comparison.judge(&read.collect::<Result<Vec<_>, _>>()?)? {
            Judged::Path => Ok(None),
            Judged::TooMany(why) => Err(why),
            Judged::Refused { number, entry, possible } => {
                let mut named: Vec<String> = possible.iter().take(NAMED).cloned().collect();
                if possible.len() > NAMED {
                    named.push(format!("{} more", possible.len() - NAMED));
                }
                let possible = match named.is_empty() {
                    true => "nothing".into(),
                    false => named.join("; "),
                };
                Ok(Some(format!(
                    "no path of {name} allows event {number} of the log: {entry}; possible there: \
                     {possible}"
                )))
            }
        }
    }
}
