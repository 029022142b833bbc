//! A model of one's own: a lock service that grants leases, and clients that write under them.
//!
//! A client asks for the lock, is granted a lease, and writes to a store. A lease may run out at
//! any time, and the client does not notice at once: it may have been paused. If the store does
//! not check who holds the lock (`--bug no-fencing`), a client whose lease has run out still
//! writes, and two clients have written under what both believe to be an exclusive lock.
//!
//! The correct store compares the number of the lease (a fencing token) with the highest it has
//! seen. The guide, `docs/guide/your-own-model.md`, walks through this file.

use everypath_model::{
    Bug, Catalog, Config, EventKind, Line, Model, NodeRange, Property, Rank, Step, System,
    canonical,
};
use std::process::ExitCode;

/// One call gives the model the whole command line.
fn main() -> ExitCode {
    everypath_model::run(Catalog::of::<Lease>())
}

/// The lock service, the store and the clients.
#[derive(Debug, Default)]
struct World {
    /// The client that holds the lock, as the service sees it.
    holder: Option<u16>,
    /// How many leases were granted; the number of the newest.
    granted: u32,
    /// The clients.
    clients: Vec<Client>,
    /// The writes that the store accepted: the number of the lease of each.
    accepted: Vec<u32>,
}
canonical!(struct World { holder, granted, clients, accepted });

/// What a client believes.
#[derive(Debug, Default)]
struct Client {
    /// The lease it believes to hold.
    lease: Option<u32>,
    /// Whether it has written.
    done: bool,
}
canonical!(struct Client { lease, done });

const ACQUIRE: u16 = 0;
const EXPIRE: u16 = 1;
const WRITE: u16 = 2;

/// The model.
struct Lease {
    clients: u16,
    /// The store checks the number of the lease.
    fencing: bool,
    /// A client may write without a lease, which its handler is not made for.
    eager: bool,
}

impl System for Lease {
    type State = World;

    fn initial(&self) -> World {
        let clients = (0..self.clients).map(|_| Client::default()).collect();
        World { clients, ..World::default() }
    }

    fn enabled(&self, world: &World, steps: &mut Vec<Step>) {
        for (actor, client) in (0..).zip(&world.clients) {
            if world.holder.is_none() && client.lease.is_none() && !client.done {
                steps.push(Step { actor, event: ACQUIRE, param: 0 });
            }
            if world.holder == Some(actor) {
                steps.push(Step { actor, event: EXPIRE, param: 0 });
            }
            if client.lease.is_some() || self.eager && !client.done {
                steps.push(Step { actor, event: WRITE, param: 0 });
            }
        }
    }

    fn take(&self, world: &mut World, step: Step) {
        let client = &mut world.clients[step.actor as usize];
        match step.event {
            ACQUIRE => {
                world.granted += 1;
                world.holder = Some(step.actor);
                client.lease = Some(world.granted);
            }
            EXPIRE => world.holder = None,
            _ => {
                let lease = client.lease.take().expect("only a client with a lease writes");
                client.done = true;
                let newest = world.accepted.iter().all(|&earlier| earlier < lease);
                if newest || !self.fencing {
                    world.accepted.push(lease);
                }
                if world.holder == Some(step.actor) {
                    world.holder = None;
                }
            }
        }
    }
}

impl Model for Lease {
    const NAME: &'static str = "lease";
    const ABOUT: &'static str = "a lock service that grants leases, and a store behind it";
    const NODES: NodeRange = NodeRange { min: 1, max: 8, default: 2 };
    const BUGS: &'static [Bug] = &[
        Bug { name: "no-fencing", about: "the store accepts every write" },
        Bug { name: "eager-write", about: "a client may write without a lease" },
    ];
    const EVENTS: &'static [EventKind] = &[
        EventKind { name: "acquire", about: "a client is granted the lock" },
        EventKind { name: "expire", about: "a lease runs out; its client does not notice" },
        EventKind { name: "write", about: "a client writes under the lease it believes to hold" },
    ];

    fn build(config: &Config) -> Self {
        Lease {
            clients: config.nodes as u16,
            fencing: !config.has("no-fencing"),
            eager: config.has("eager-write"),
        }
    }

    fn properties(&self) -> Vec<Property<World>> {
        vec![Property::new("order", |world: &World| {
            match world.accepted.windows(2).find(|pair| pair[0] >= pair[1]) {
                None => Ok(()),
                Some(pair) => Err(format!(
                    "the write under lease {} was accepted after that under lease {}",
                    pair[1], pair[0]
                )),
            }
        })]
    }

    fn ranks(&self) -> Vec<Rank<World>> {
        vec![Rank::new("1", "most leases granted", |world: &World, tuple| {
            tuple.push(world.granted.into());
        })]
    }

    fn actor(&self, actor: u16) -> String {
        format!("client {}", actor + 1)
    }

    fn describe_step(&self, before: &World, step: Step) -> String {
        let client = &before.clients[step.actor as usize];
        match step.event {
            ACQUIRE => format!("is granted lease {}", before.granted + 1),
            EXPIRE => "its lease runs out unnoticed".into(),
            _ => format!("writes under lease {}", client.lease.unwrap_or_default()),
        }
    }

    fn describe_state(&self, world: &World) -> Vec<Line> {
        let mut lines = vec![
            Line::new(
                "service",
                world.holder.map_or("lock is free".into(), |h| format!("held by client {}", h + 1)),
            ),
            Line::new("store", format!("accepted writes under leases {:?}", world.accepted)),
        ];
        for (actor, client) in (0..).zip(&world.clients) {
            let text = match (client.lease, client.done) {
                (Some(lease), _) => format!("believes to hold lease {lease}"),
                (None, true) => "has written".into(),
                (None, false) => "idle".into(),
            };
            lines.push(Line::new(self.actor(actor), text));
        }
        lines
    }
}
