//! What surrounds a program: its folder, the files that it finds, and who judges what it leaves.

use crate::cli::CheckArgs;
use crate::commands::program_environment;
use crate::usage::Usage;
use everypath_native::{Judge, PlacedFile};
use everypath_trace::Surroundings;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The longest output that is kept, and so the longest that can be expected.
const MAX_EXPECTED: usize = everypath_native::MAX_OUTPUT;

/// What a program is started with.
pub(super) struct Prepared {
    pub(super) folder: Option<PathBuf>,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) files: Vec<PlacedFile>,
    pub(super) judge: Option<Arc<Judge>>,
}

/// What the options ask for, as traces record it.
pub(super) fn of(args: &CheckArgs) -> Surroundings {
    let text = |path: &PathBuf| path.to_string_lossy().into_owned();
    Surroundings {
        folder: args.setting.folder.as_ref().map(text),
        environment: args.setting.environment.clone(),
        files: args.file.iter().map(|file| (text(&file.host), text(&file.scratch))).collect(),
        expect_stdout: args.expect_stdout.as_ref().map(text),
        oracle: args.oracle.clone(),
    }
}

/// A program's path, for a process that goes to a folder before it starts it.
pub(super) fn seen_from(folder: Option<&Path>, program: &Path) -> PathBuf {
    // What cannot be made absolute cannot be started either, and that says why.
    let absolute = folder.and_then(|_| std::path::absolute(program).ok());
    absolute.unwrap_or_else(|| program.into())
}

/// Reads what is needed.
pub(super) fn prepare(surroundings: &Surroundings) -> Result<Prepared, Usage> {
    let folder = surroundings.folder.as_ref().map(PathBuf::from);
    let here = folder.clone().unwrap_or_else(|| ".".into());
    let scratch = here
        .canonicalize()
        .map_err(|error| Usage::new(format!("cannot run in {}: {error}", here.display())))?;
    let mut environment = program_environment();
    for (name, value) in &surroundings.environment {
        environment.retain(|(known, _)| known != name.as_str());
        environment.push((name.into(), value.into()));
    }
    let files = surroundings.files.iter();
    let files = files.map(|(host, to)| place(Path::new(host), scratch.join(to)));
    Ok(Prepared {
        folder,
        environment,
        files: files.collect::<Result<_, _>>()?,
        judge: judge(surroundings, scratch)?.map(Arc::new),
    })
}

fn place(host: &Path, path: PathBuf) -> Result<PlacedFile, Usage> {
    let cannot = |error| Usage::new(format!("cannot read {} for --file: {error}", host.display()));
    let mode = fs::metadata(host).map_err(cannot)?.permissions().mode() & 0o7777;
    Ok(PlacedFile { path, mode, folder: false, bytes: fs::read(host).map_err(cannot)? })
}

fn judge(surroundings: &Surroundings, scratch: PathBuf) -> Result<Option<Judge>, Usage> {
    let Surroundings { expect_stdout, oracle, .. } = surroundings;
    let mut judge = Judge::default();
    if let Some(path) = expect_stdout {
        let bytes = fs::read(path).map_err(|error| {
            Usage::new(format!("cannot read {path} for --expect-stdout: {error}"))
        })?;
        if bytes.len() > MAX_EXPECTED {
            return Err(Usage::new(format!(
                "{path} is too long for --expect-stdout: {} bytes of output are kept, it has {}",
                MAX_EXPECTED,
                bytes.len()
            )));
        }
        judge = judge.expect_stdout(path.clone(), bytes);
    }
    if let Some(command) = oracle {
        if command.trim().is_empty() {
            return Err(Usage::new(
                "--oracle is empty: give a command that fails if an execution went wrong",
            ));
        }
        judge = judge
            .ask(command.clone(), scratch, &std::env::temp_dir())
            .map_err(|error| Usage::new(format!("cannot ask --oracle: {error}")))?;
    }
    Ok((expect_stdout.is_some() || oracle.is_some()).then_some(judge))
}
