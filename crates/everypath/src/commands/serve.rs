//! `everypath serve`: a page on loopback.

use super::replay_command;
use crate::beacon;
use crate::catalog::Catalog;
use crate::cli::ServeArgs;
use crate::usage::Usage;
use crate::{HOLDS, output};
use everypath_explore::Config;
use everypath_web::{Access, Models, Site};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// Serves until it is interrupted.
pub(crate) fn run(catalog: Catalog, args: &ServeArgs) -> Result<u8, Usage> {
    let named = if args.results.is_empty() { vec![".".into()] } else { args.results.clone() };
    if let Some(missing) = named.iter().find(|path| !path.exists()) {
        return Err(Usage::new(format!(
            "cannot serve {}: there is no such file or folder",
            missing.display()
        )));
    }
    let cannot = |error| {
        let port = args.port;
        Usage::new(format!("cannot listen at 127.0.0.1:{port}: {error}; choose another --port"))
    };
    let listener = Site::listen(args.port).map_err(cannot)?;
    let port = listener.local_addr().map_err(cannot)?.port();
    let access = Access::new(port)
        .map_err(|error| Usage::new(format!("cannot read /dev/urandom: {error}")))?;
    let address = access.address();
    output::print(&format!(
        "Serving at {address}\nOnly this machine can reach it. Ctrl-C ends it.\n"
    ));
    if args.open {
        let opened = Command::new("xdg-open").arg(&address).stderr(Stdio::null()).status();
        if !opened.is_ok_and(|status| status.success()) {
            output::warning("xdg-open could not open a browser: open the address above");
        }
    }
    let site = Site {
        access,
        named,
        prefix: beacon::PREFIX.into(),
        replay: replay_command(),
        models: Box::new(Stepper { catalog }),
    };
    site.serve(listener).map_err(cannot)?;
    Ok(HOLDS)
}

/// The models of the catalog, step by step.
struct Stepper {
    catalog: Catalog,
}

impl Models for Stepper {
    fn list(&self) -> Value {
        let about = |entry: &crate::catalog::Entry| {
            let bugs: Vec<&str> = entry.kind.bugs.iter().map(|bug| bug.name).collect();
            json!({ "name": entry.kind.name, "about": entry.kind.about, "bugs": bugs })
        };
        self.catalog.entries().iter().map(about).collect()
    }

    fn state(&self, model: &str, bugs: &[String], steps: &[usize]) -> Result<Value, String> {
        let entry = self.catalog.find(model).map_err(|error| error.to_string())?;
        let config = Config { bugs: bugs.to_vec(), ..Config::new(entry.kind.nodes.default) };
        let model = entry.build(config).map_err(|error| error.to_string())?;
        let mut schedule = Vec::new();
        for &number in steps {
            let now = model.look(&schedule)?;
            let (step, _) = now.enabled.get(number).ok_or("no such event is enabled")?;
            schedule.push(*step);
        }
        let now = model.look(&schedule)?;
        let state: Vec<(&str, &str)> =
            now.state.iter().map(|line| (line.part.as_str(), line.text.as_str())).collect();
        let enabled: Vec<&str> = now.enabled.iter().map(|(_, text)| text.as_str()).collect();
        Ok(json!({ "state": state, "enabled": enabled, "violated": now.violated }))
    }
}
