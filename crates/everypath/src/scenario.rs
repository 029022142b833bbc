//! Scenario files: `everypath check SCENARIO.toml`.
//!
//! A file is turned into words of the command line, so that every option of `check` has a key by
//! being an option. What the command line itself says comes first.

use crate::cli::{Cli, Command};
use crate::suggest;
use crate::usage::Usage;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, CommandFactory};
use everypath_trace::FilePlacement;
use std::any::TypeId;
use std::ffi::OsString;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Keys that are no options.
const OWN_KEYS: [&str; 3] = ["program", "arguments", "environment"];
/// Options that make no sense in a file; variables are a table there.
const NO_KEYS: [&str; 3] = ["help", "version", "env"];

/// A command line with its scenario file.
pub(crate) struct Expanded {
    /// All words.
    pub(crate) words: Vec<OsString>,
    /// The file's folder, in which the program runs; `None` is the current one.
    pub(crate) folder: Option<PathBuf>,
}

/// Adds the words of a scenario file to a command line; `None` if it names no file.
pub(crate) fn expand(
    words: &[OsString],
    cli: &Cli,
    matches: &ArgMatches,
) -> Result<Option<Expanded>, Usage> {
    let (Command::Check(args), Some((_, given))) = (&cli.command, matches.subcommand()) else {
        return Ok(None);
    };
    let Some(path) = &args.scenario else { return Ok(None) };
    if !args.command.is_empty() {
        return Err(Usage::new("give either a scenario file or a program after `--`, not both"));
    }
    let text = read(path)?;
    let Scenario { options, program, arguments, folder, .. } = Scenario::of(path, &text, given)?;
    let program = program.unwrap_or_default();
    // The program comes last, and options after the name of the command.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let command = words.iter().position(|word| word == "check").unwrap_or(0) + 1;
    let mut all = words[..command].to_vec();
    all.extend(options);
    all.extend(words[command..end].iter().cloned());
    all.extend(["--".into(), program.into()]);
    all.extend(arguments);
    Ok(Some(Expanded { words: all, folder }))
}

/// The words that a scenario file stands for: options, `--`, the program and its arguments.
pub(crate) fn words(path: &Path, text: &str) -> Result<Vec<OsString>, Usage> {
    let line = ["everypath".into(), "check".into(), path.as_os_str().to_os_string()];
    let matches = Cli::command().try_get_matches_from(line);
    let matches = matches.map_err(|error| Usage::new(error.to_string()))?;
    let given = matches.subcommand_matches("check").expect("it is the command");
    let Scenario { options, program, arguments, .. } = Scenario::of(path, text, given)?;
    let mut words = options;
    words.extend(["--".into(), program.unwrap_or_default().into()]);
    words.extend(arguments);
    Ok(words)
}

fn read(path: &Path) -> Result<String, Usage> {
    let bytes = fs::read(path)
        .map_err(|error| Usage::new(format!("cannot read {}: {error}", path.display())))?;
    String::from_utf8(bytes).map_err(|_| {
        Usage::new(format!(
            "{path} is not a scenario file; to check a program, put -- before it: everypath check \
             -- {path}",
            path = path.display()
        ))
    })
}

struct Scenario<'a> {
    path: &'a Path,
    text: &'a str,
    /// What the command line says.
    given: &'a ArgMatches,
    check: clap::Command,
    options: Vec<OsString>,
    program: Option<PathBuf>,
    arguments: Vec<OsString>,
    /// The folder of the file; `None` is the current one.
    folder: Option<PathBuf>,
}

impl<'a> Scenario<'a> {
    /// The scenario in a text, which names a program.
    fn of(path: &'a Path, text: &'a str, given: &'a ArgMatches) -> Result<Self, Usage> {
        let mut scenario = Scenario::new(path, text, given);
        scenario.read()?;
        match scenario.program {
            Some(_) => Ok(scenario),
            None => Err(Usage::new(format!(
                "{}: no program is named; add a line such as program = \"./server\"",
                path.display()
            ))),
        }
    }

    fn new(path: &'a Path, text: &'a str, given: &'a ArgMatches) -> Self {
        let check = Cli::command().find_subcommand("check").expect("it is a command").clone();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.map(Into::into);
        let (options, arguments) = (Vec::new(), Vec::new());
        Scenario { path, text, given, check, options, program: None, arguments, folder }
    }

    /// A message with the place that it is about.
    fn wrong(&self, at: Range<usize>, message: &str) -> Usage {
        let before = &self.text[..at.start.min(self.text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&character| character != '\n').count() + 1;
        Usage::new(format!("{}:{line}:{column}: {message}", self.path.display()))
    }

    fn read(&mut self) -> Result<(), Usage> {
        let table = DeTable::parse(self.text).map_err(|error| {
            self.wrong(error.span().unwrap_or_default(), &error.message().replace('\n', ", "))
        })?;
        let mut entries: Vec<_> = table.get_ref().iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            match key.get_ref().as_ref() {
                "program" => {
                    let name = self.string("program", value)?;
                    // A name without a slash is looked for where programs are.
                    let found =
                        if name.contains('/') { self.beside_the_file(&name) } else { name.into() };
                    self.program = Some(found);
                }
                "arguments" => {
                    let words = self.strings("arguments", value)?;
                    self.arguments = words.into_iter().map(Into::into).collect();
                }
                "environment" => self.environment(value)?,
                name => self.option(name, key.span(), value)?,
            }
        }
        Ok(())
    }

    fn string(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<String, Usage> {
        let text = value.get_ref().as_str().map(Into::into);
        text.ok_or_else(|| self.unexpected(key, value, "a string"))
    }

    fn strings(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, Usage> {
        let array = value.get_ref().as_array();
        let array = array.ok_or_else(|| self.unexpected(key, value, "an array of strings"))?;
        array.iter().map(|value| self.string(key, value)).collect()
    }

    fn environment(&mut self, value: &Spanned<DeValue<'_>>) -> Result<(), Usage> {
        let table = value.get_ref().as_table();
        let table = table.ok_or_else(|| self.unexpected("environment", value, "a table"))?;
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let value = self.string(name, value)?;
            if name.is_empty() || name.contains('=') {
                return Err(self.wrong(key.span(), "not a name of a variable"));
            }
            // Those of the command line come later and win.
            self.options.push(format!("--env={name}={value}").into());
        }
        Ok(())
    }

    fn unexpected(&self, key: &str, value: &Spanned<DeValue<'_>>, expected: &str) -> Usage {
        let found = value.get_ref().type_str();
        self.wrong(value.span(), &format!("{key}: expected {expected}, found {found}"))
    }

    /// A path of the file, which is relative to it.
    fn beside_the_file(&self, path: &str) -> PathBuf {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        // A program in this very folder is still no name to be looked for.
        if folder.as_os_str().is_empty() {
            return path.into();
        }
        folder.join(path.trim_start_matches("./"))
    }

    /// Takes over an option, unless the command line has it.
    fn option(
        &mut self,
        name: &str,
        at: Range<usize>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), Usage> {
        let longs = self.check.get_arguments().filter_map(Arg::get_long);
        let known: Vec<&str> = longs.filter(|long| !NO_KEYS.contains(long)).collect();
        suggest::find("key", name, known.into_iter().chain(OWN_KEYS))
            .map_err(|error| self.wrong(at, &error.to_string()))?;
        let argument = self.check.get_arguments().find(|arg| arg.get_long() == Some(name));
        let argument = argument.expect("it was just found");
        let words = self.words(name, argument, value)?;
        let probe = ["check".into()].into_iter().chain(words.iter().cloned());
        let probe = probe.chain(["--".into(), "program".into()]);
        // What an option needs besides is another line, or missing when all are put together.
        let is_wrong = |error: &clap::Error| error.kind() != ErrorKind::MissingRequiredArgument;
        if let Some(error) = self.check.clone().try_get_matches_from(probe).err().filter(is_wrong) {
            let error = error.to_string();
            let first = error.lines().next().unwrap_or_default();
            let message = format!("{name}: {}", first.trim_start_matches("error: "));
            return Err(self.wrong(value.span(), &message));
        }
        let id = argument.get_id().as_str();
        if self.given.value_source(id) != Some(ValueSource::CommandLine) {
            self.options.extend(words);
        }
        Ok(())
    }

    /// An option as words of a command line.
    fn words(
        &self,
        name: &str,
        argument: &Arg,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Vec<OsString>, Usage> {
        if matches!(argument.get_action(), ArgAction::SetTrue) {
            let on = value.get_ref().as_bool();
            let on = on.ok_or_else(|| self.unexpected(name, value, "true or false"))?;
            return Ok(if on { vec![format!("--{name}").into()] } else { Vec::new() });
        }
        let values: Vec<&Spanned<DeValue<'_>>> = match value.get_ref() {
            DeValue::Array(array) if matches!(argument.get_action(), ArgAction::Append) => {
                array.iter().collect()
            }
            _ => vec![value],
        };
        let kind = argument.get_value_parser().type_id();
        let is_path = kind == TypeId::of::<PathBuf>() || kind == TypeId::of::<FilePlacement>();
        let word = |value: &Spanned<DeValue<'_>>| {
            let text = match value.get_ref() {
                DeValue::String(text) => text.to_string(),
                DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                    .map_err(|_| self.unexpected(name, value, "a smaller number"))?
                    .to_string(),
                DeValue::Float(number) => number.as_str().to_string(),
                _ => return Err(self.unexpected(name, value, "a string or a number")),
            };
            let mut word = OsString::from(format!("--{name}="));
            match is_path && text != "-" {
                // What names a file, or begins with its name.
                true => word.push(self.beside_the_file(&text)),
                false => word.push(text),
            }
            Ok(word)
        };
        values.into_iter().map(word).collect()
    }
}
