//! Searches by several processes, on this machine or on several.

use super::disk::{identity, unfit};
use super::{Plan, Run, threads};
use crate::catalog::Entry;
use crate::cli::{ClusterArgs, ModelArgs};
use crate::hosts::hosts;
use crate::usage::Usage;
use crate::watch::Watch;
use everypath_explore::{AnyModel, Cluster, ClusterError, Counts, Ended, Exploration, Together};
use std::cell::RefCell;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Where those who start processes on many machines say which of them this is.
const RANKS: [&str; 3] = ["SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"];

/// What searches with other processes: it is not in this crate, since it brings a dataflow engine along.
static TOGETHER: OnceLock<Together> = OnceLock::new();

/// Lets the command line of models search by several processes.
pub fn search_together(together: Together) {
    TOGETHER.get_or_init(|| together);
}

/// What is asked for, checked.
pub(super) struct ClusterPlan {
    hosts: Vec<String>,
    pub(super) process: usize,
    threads: usize,
    identity: String,
    patience: Duration,
    together: Together,
    /// The other processes, if this one has started them.
    local: Option<Local>,
}

/// Processes on this machine, which end with this one.
struct Local {
    /// Where their sockets are.
    folder: PathBuf,
    children: RefCell<Vec<Child>>,
}

impl Drop for Local {
    fn drop(&mut self) {
        for child in self.children.get_mut() {
            // It has its result, or is of no use without this process.
            let _ = child.kill();
            let _ = child.wait();
        }
        // Somebody else may have removed it.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl ClusterPlan {
    /// Checks what is asked for; `None` if nothing is. Starts the other processes, if they are local.
    pub(super) fn new(entry: &Entry, plan: &Plan, args: &ModelArgs) -> Result<Option<Self>, Usage> {
        let asked = &args.cluster;
        if asked.lacks_processes() {
            return Err(Usage::new(
                "--host-timeout needs --processes or --hosts, which say for whom",
            ));
        }
        let Some(option) = asked.option() else { return Ok(None) };
        let Some(&together) = TOGETHER.get() else {
            return Err(Usage::new(format!(
                "{option} needs a command line that searches with other processes: that of the crate \
                 everypath"
            )));
        };
        unfit(args, option)?;
        if args.disk.folder().is_some() {
            return Err(Usage::new(format!(
                "{option} does not go with {}; leave one of them out",
                args.disk.option()
            )));
        }
        let (hosts, process, local) = match asked.hosts {
            Some(_) => {
                let hosts = named(asked)?;
                let process = process(asked, hosts.len())?;
                (hosts, process, None)
            }
            None => {
                let (hosts, local) = start(asked.processes.map_or(1, usize::from))?;
                (hosts, 0, Some(local))
            }
        };
        let each = match (args.common.threads, asked.processes) {
            (None, Some(processes)) => (threads(None) / usize::from(processes)).max(1),
            (asked, _) => threads(asked),
        };
        let description = format!(
            "{}\nthreads of each process: {each}\nprocesses: {}",
            identity(entry, plan)?,
            hosts.join(", ")
        );
        Ok(Some(ClusterPlan {
            hosts,
            process,
            threads: each,
            identity: description,
            patience: asked.patience(),
            together,
            local,
        }))
    }

    /// Whether another process on this machine has started this one, and reports.
    pub(super) fn is_started_by_another(&self) -> bool {
        self.process > 0 && self.hosts[0].starts_with('/')
    }

    /// Searches, together with the others.
    pub(super) fn run(
        &self,
        plan: &Plan,
        model: &Arc<dyn AnyModel>,
        watch: &Watch<'_>,
    ) -> Result<Vec<Run>, Usage> {
        let failed = || {
            let mut children = self.local.as_ref()?.children.borrow_mut();
            let ended = children.iter_mut().map(|child| child.try_wait().ok().flatten());
            let ended = (1..).zip(ended).find_map(|(number, ended)| Some((number, ended?)));
            ended.map(|(number, how)| format!("process {number} has ended ({how})"))
        };
        let cluster = Cluster {
            hosts: self.hosts.clone(),
            process: self.process,
            threads: self.threads,
            identity: self.identity.clone(),
            patience: self.patience,
            failed: &failed,
        };
        let (request, record) = plan.requests().next().expect("there is at least one replication");
        let again = plan.requests().next().expect("there is at least one replication").0;
        let (explored, took, stopped) = watch.run(|control| {
            let mut exploration = (self.together)(Arc::clone(model), request, &cluster, control)?;
            let liveness = match self.process {
                0 => plan.check_liveness(&**model, &again, (&mut exploration, control)),
                _ => None,
            };
            Ok((exploration, liveness))
        });
        let (exploration, liveness) = match explored {
            Ok(explored) => explored,
            Err(ClusterError::Refused(why)) => return Err(Usage::new(why)),
            Err(ClusterError::Lost(why)) => (nothing(&plan.request.properties, why), None),
        };
        let hint = (stopped.is_none() && exploration.ended == Ended::Stopped)
            .then(|| "another process was stopped".into());
        let (session, walked) = (None, None);
        Ok(vec![Run { exploration, took, stopped, record, session, liveness, walked, hint }])
    }
}

/// What is known of a search that has lost a process.
fn nothing(properties: &[String], why: String) -> Exploration {
    let by_property = vec![0; properties.len() + 1];
    Exploration {
        counts: Counts { by_property, ..Counts::default() },
        found: Vec::new(),
        checked_depth: 0,
        ended: Ended::Failed(why),
        by_event: Vec::new(),
        witnesses: Vec::new(),
    }
}

/// The processes of the host file.
fn named(asked: &ClusterArgs) -> Result<Vec<String>, Usage> {
    let path = asked.hosts.as_ref().expect("it is asked for");
    let shown = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| Usage::new(format!("--hosts: cannot read {shown}: {error}")))?;
    let mut all = hosts(&text).map_err(|error| Usage::new(format!("--hosts {shown}: {error}")))?;
    let wanted = asked.processes.map_or(all.len(), usize::from);
    if wanted > all.len() {
        return Err(Usage::new(format!(
            "--processes {wanted}: {shown} names {} hosts; add lines to it",
            all.len()
        )));
    }
    all.truncate(wanted);
    Ok(all)
}

/// Which of the processes this one is.
#[expect(
    clippy::disallowed_methods,
    reason = "whoever starts processes tells them by the environment"
)]
fn process(asked: &ClusterArgs, processes: usize) -> Result<usize, Usage> {
    let told = || RANKS.iter().find_map(|name| Some((*name, std::env::var(name).ok()?)));
    let (option, number) = match asked.process {
        Some(number) => ("--process".to_string(), number),
        None => match told() {
            None => {
                return Err(Usage::new(
                    "--hosts needs --process, which says which line of the file is this process",
                ));
            }
            Some((name, text)) => {
                let number = text.parse();
                let wrong = |_| Usage::new(format!("{name}={text} is no number of a process"));
                (name.to_string(), number.map_err(wrong)?)
            }
        },
    };
    if number >= processes {
        return Err(Usage::new(format!(
            "{option} {number}: there are {processes} processes, numbered from 0"
        )));
    }
    Ok(number)
}

/// Starts this program once more for each of the other processes.
fn start(processes: usize) -> Result<(Vec<String>, Local), Usage> {
    let failed = |error: std::io::Error| Usage::new(format!("cannot start processes: {error}"));
    let folder = std::env::temp_dir().join(format!("everypath-{}", std::process::id()));
    DirBuilder::new().mode(0o700).create(&folder).map_err(failed)?;
    let path = |number: usize| folder.join(number.to_string()).display().to_string();
    let hosts: Vec<String> = (0..processes).map(path).collect();
    let file = folder.join("hosts");
    let local = Local { folder, children: RefCell::default() };
    fs::write(&file, hosts.join("\n")).map_err(failed)?;
    let program = std::env::current_exe().map_err(failed)?;
    for number in 1..processes {
        let child = Command::new(&program)
            .args(std::env::args_os().skip(1))
            .arg("--hosts")
            .arg(&file)
            .args(["--process", &number.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        local.children.borrow_mut().push(child);
    }
    Ok((hosts, local))
}
