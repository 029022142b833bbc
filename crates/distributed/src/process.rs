//! One process of a search: its workers, its connections to the others, and what becomes of them.

use crate::gauges::Gauges;
use crate::handshake::connect;
use crate::search;
use crate::watch::watch;
use everypath_explore::{AnyModel, Cluster, ClusterError, Control, Exploration, Request};
use std::any::Any;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use timely::WorkerConfig;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::communication::{Config, Hooks};
use timely::execute::execute_from;

/// How long workers whose connections have broken wait for the news of who is gone.
const NEWS: Duration = Duration::from_secs(5);

/// What happens to a process.
enum Event {
    /// A worker has come to the end.
    Result(Box<Exploration>),
    /// All threads have ended.
    Ended,
    /// Another process is gone.
    Lost(String),
}

/// Explores a model together with the other processes; each gets the result.
///
/// It is that of [`AnyModel::explore`], but for two things: a search that ends at a violation has
/// explored the whole level, and of several shortest counterexamples it may be another.
///
/// # Panics
///
/// If the search does not [fit](everypath_explore::expander::fits).
pub fn explore(
    model: Arc<dyn AnyModel>,
    request: Request,
    cluster: &Cluster<'_>,
    control: &Control,
) -> Result<Exploration, ClusterError> {
    let (sender, events) = channel();
    let mut watched = None;
    let gauges = Gauges::new(cluster.threads, cluster.hosts.len());
    let (builders, others): (_, Box<dyn Any + Send>) = if cluster.hosts.len() == 1 {
        Config::Process(cluster.threads).try_build().map_err(ClusterError::Refused)?
    } else {
        let peers = connect(cluster, control)?;
        let (mut data, mut controls) = (Vec::new(), Vec::new());
        for (process, peer) in peers.into_iter().enumerate() {
            let (to_data, to_control) = peer.map(|peer| (peer.data, peer.control)).unzip();
            data.push(to_data);
            controls.extend(to_control.map(|socket| (process, socket)));
        }
        let failed = |error: std::io::Error| ClusterError::Lost(error.to_string());
        data.iter().flatten().try_for_each(|socket| socket.set_patience(None)).map_err(failed)?;
        let (news, hosts) = (sender.clone(), cluster.hosts.clone());
        let lost = move |process: usize, why: String| {
            let why = format!("process {process} at {} is gone: {why}", hosts[process]);
            // Nobody listens to it any more if the search is over.
            let _ = news.send(Event::Lost(why));
        };
        watched =
            Some(watch(controls, cluster.patience, (control, &gauges), lost).map_err(failed)?);
        let hooks = Hooks::default();
        let local = ProcessBuilder::new_typed_vector(
            cluster.threads,
            hooks.refill.clone(),
            hooks.spill.clone(),
        );
        let connected = initialize_networking_from_sockets(
            local,
            data,
            cluster.process,
            cluster.threads,
            hooks,
        );
        let (builders, guard) = connected.map_err(failed)?;
        (builders.into_iter().map(AllocatorBuilder::Tcp).collect(), Box::new(guard))
    };
    work((model, request), (builders, others), (sender, control.clone(), gauges))?;
    let result = await_result(&events, cluster.threads);
    drop(watched);
    result
}

/// Starts the workers.
fn work(
    (model, request): (Arc<dyn AnyModel>, Request),
    (builders, others): (Vec<AllocatorBuilder>, Box<dyn Any + Send>),
    (sender, control, gauges): (Sender<Event>, Control, Gauges),
) -> Result<(), ClusterError> {
    let results = Mutex::new(sender.clone());
    let guards = execute_from(builders, others, WorkerConfig::default(), move |worker| {
        let mut explored = None;
        model.with_expander(&request, &mut |mut expander| {
            let how = (&request.search, &control, &gauges);
            explored = Some(search::explore(worker, &mut *expander, how));
        });
        let sender = results.lock().expect("nobody panics while sending").clone();
        let explored = explored.expect("a model expands its states");
        let _ = sender.send(Event::Result(Box::new(explored)));
    });
    let guards = guards.map_err(ClusterError::Refused)?;
    // Threads of a search that has lost a process never end; nobody waits for this one then.
    thread::spawn(move || {
        let joined = guards.join();
        drop(joined);
        let _ = sender.send(Event::Ended);
    });
    Ok(())
}

/// Waits for the results of all workers, which are the same, and until everything is sent.
fn await_result(events: &Receiver<Event>, workers: usize) -> Result<Exploration, ClusterError> {
    let mut results = Vec::new();
    loop {
        match events.recv() {
            Ok(Event::Result(result)) => results.push(*result),
            // What is lost after the end makes no difference.
            Ok(Event::Ended | Event::Lost(_)) if results.len() == workers => break,
            Ok(Event::Lost(why)) => return Err(ClusterError::Lost(why)),
            Err(_) if results.len() == workers => break,
            Ok(Event::Ended) | Err(_) => return Err(news(events)),
        }
    }
    let result = results.pop().expect("there is a worker");
    assert!(results.iter().all(|other| *other == result), "all workers come to the same result");
    Ok(result)
}

/// Why all workers have ended without a result.
fn news(events: &Receiver<Event>) -> ClusterError {
    loop {
        match events.recv_timeout(NEWS) {
            Ok(Event::Lost(why)) => return ClusterError::Lost(why),
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                panic!("the workers have ended without a result")
            }
        }
    }
}
