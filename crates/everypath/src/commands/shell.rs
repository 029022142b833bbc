//! `everypath completions` and `everypath man`: generated from the options themselves.

use crate::HOLDS;
use crate::output;
use crate::usage::Usage;
use clap_complete::Shell;
use std::fs;
use std::path::Path;

/// Prints completions for a shell.
pub(crate) fn completions(mut command: clap::Command, shell: Shell) -> Result<u8, Usage> {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut command, "everypath", &mut bytes);
    output::print_or_fail(&String::from_utf8_lossy(&bytes))?;
    Ok(HOLDS)
}

/// Writes a man page for the program and for each command.
pub(crate) fn man(command: clap::Command, folder: &Path) -> Result<u8, Usage> {
    let cannot = |error: std::io::Error| {
        Usage::new(format!("cannot write man pages into {}: {error}", folder.display()))
    };
    fs::create_dir_all(folder).map_err(cannot)?;
    clap_mangen::generate_to(command.disable_help_subcommand(true), folder).map_err(cannot)?;
    Ok(HOLDS)
}
