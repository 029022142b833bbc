//! What surrounds a program: its folder, the files that it finds, and who judges what it leaves.

use crate::error::CheckError;
use crate::host::Host;
use everypath_native::{Judge, MAX_OUTPUT, PlacedFile, STANDARD_INPUT};
use everypath_trace::{CheckConfig, FilePlacement};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a program is started with.
pub(crate) struct Sandbox {
    pub(crate) folder: Option<PathBuf>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) files: Vec<PlacedFile>,
    pub(crate) judge: Option<Arc<Judge>>,
}

/// A program's path, for a process that changes its folder before it starts it.
pub(crate) fn seen_from(folder: Option<&Path>, program: &Path) -> PathBuf {
    // What cannot be made absolute cannot be started either, and that says why.
    let absolute = folder.and_then(|_| std::path::absolute(program).ok());
    absolute.unwrap_or_else(|| program.into())
}

impl Sandbox {
    /// Reads the files that the configuration names.
    pub(crate) fn new(host: &Host, config: &CheckConfig) -> Result<Self, CheckError> {
        let folder = config.folder.clone();
        let here = folder.clone().unwrap_or_else(|| ".".into());
        let scratch =
            here.canonicalize().map_err(|error| CheckError::Folder { path: here, error })?;
        let mut environment = host.environment.clone();
        for (name, value) in &config.environment {
            environment.retain(|(known, _)| known != name.as_str());
            environment.push((name.into(), value.into()));
        }
        let files = config.file.iter().map(|file| place(file, &scratch));
        let files = files.chain(config.stdin.iter().map(|path| standard_input(path)));
        Ok(Sandbox {
            folder,
            environment,
            files: files.collect::<Result<_, _>>()?,
            judge: judge(host, config, scratch)?.map(Arc::new),
        })
    }
}

fn place(file: &FilePlacement, scratch: &Path) -> Result<PlacedFile, CheckError> {
    let host = &file.host;
    let cannot = |error| CheckError::Read { option: "--file", path: host.clone(), error };
    let mode = fs::metadata(host).map_err(cannot)?.permissions().mode() & 0o7777;
    let path = scratch.join(&file.scratch);
    Ok(PlacedFile { path, mode, folder: false, bytes: fs::read(host).map_err(cannot)? })
}

/// What the program reads from standard input, which the shim knows by this name.
fn standard_input(host: &Path) -> Result<PlacedFile, CheckError> {
    let cannot = |error| CheckError::Read { option: "--stdin", path: host.into(), error };
    let bytes = fs::read(host).map_err(cannot)?;
    Ok(PlacedFile { path: STANDARD_INPUT.into(), mode: 0o600, folder: false, bytes })
}

fn judge(host: &Host, config: &CheckConfig, scratch: PathBuf) -> Result<Option<Judge>, CheckError> {
    let CheckConfig { expect_stdout, oracle, refines, .. } = config;
    let mut judge = Judge::default();
    if let Some(path) = expect_stdout {
        let cannot =
            |error| CheckError::Read { option: "--expect-stdout", path: path.clone(), error };
        let bytes = fs::read(path).map_err(cannot)?;
        let path = path.to_string_lossy().into_owned();
        if bytes.len() > MAX_OUTPUT {
            return Err(CheckError::options(format!(
                "{path} is too long for --expect-stdout: {MAX_OUTPUT} bytes of output are kept, it \
                 has {}",
                bytes.len()
            )));
        }
        judge = judge.expect_stdout(path, bytes);
    }
    if let Some(command) = oracle {
        if command.trim().is_empty() {
            return Err(CheckError::options(
                "--oracle is empty: give a command that fails if an execution went wrong",
            ));
        }
        judge = judge
            .ask(command.clone(), scratch, &host.temporary)
            .map_err(|error| CheckError::options(format!("cannot ask --oracle: {error}")))?;
    }
    match (refines, &host.specification) {
        (Some(_), Some(specification)) => judge = judge.refine(Arc::clone(specification)),
        (Some(model), None) => return Err(CheckError::NoModel(model.clone())),
        (None, _) => {}
    }
    let judges = expect_stdout.is_some() || oracle.is_some() || refines.is_some();
    Ok(judges.then_some(judge))
}
