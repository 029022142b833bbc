//! The properties of a protocol, checked while it is simulated.

use crate::{
    Cloud, Envelope, FaultState, Network, Nodes, Options, Property, Protocol, Scenario, World,
};
use everypath_explore::{Canonical, Model, PropertyKind};
use std::cell::RefCell;
use std::time::Duration;

/// The first violation of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The name of the property, or `timers`.
    pub property: String,
    /// Why it is violated.
    pub message: String,
    /// The node at which the last event was.
    pub node: crate::NodeId,
    /// When, in simulated time.
    pub time: Duration,
}

/// The packets in flight, if somebody wants to know.
pub(super) type Flying<'f, P> = &'f dyn Fn() -> Vec<Envelope<<P as Protocol>::Packet>>;

/// The nodes, and the state that only the specification sees.
pub(super) type State<P> = (Nodes<<P as Protocol>::Node>, <P as Protocol>::Ghost);

/// A state that is given back, and what it violates: a property, and why.
type Checked<P> = (State<P>, Option<(String, String)>);

/// What is checked after every event.
pub(super) type Check<'a, P> = &'a dyn Fn((State<P>, &FaultState), Flying<'_, P>) -> Checked<P>;

/// The properties of a protocol.
pub(super) struct Checker<P: Scenario> {
    options: Options,
    /// Those of states and of steps.
    properties: Vec<Property<World<P>>>,
    /// Whether any looks at the packets in flight.
    looks_at_packets: bool,
    /// The state before, as bytes, if any property speaks of steps.
    before: RefCell<Vec<u8>>,
}

impl<P: Scenario> Checker<P> {
    pub(super) fn new(options: &Options) -> Self {
        let mut properties = Network::<P>::new(options.clone()).properties();
        properties.retain(|property| {
            matches!(property.kind(), PropertyKind::Invariant | PropertyKind::Step)
        });
        Checker {
            options: options.clone(),
            looks_at_packets: properties.iter().any(|property| !property.respects_relation()),
            properties,
            before: RefCell::new(Vec::new()),
        }
    }

    /// Checks a state and the event that led to it.
    pub(super) fn check(
        &self,
        ((nodes, ghost), faults): (State<P>, &FaultState),
        flying: Flying<'_, P>,
    ) -> Checked<P> {
        let mut cloud = P::Cloud::new(&self.options);
        if self.looks_at_packets {
            flying().into_iter().for_each(|e| cloud.put(e.from, e.to, e.packet));
        }
        let world = World { nodes, ghost, faults: faults.clone(), cloud };
        let steps = self.properties.iter().any(|property| property.kind() == PropertyKind::Step);
        let mut earlier = None;
        if steps {
            let mut bytes = self.before.borrow_mut();
            if !bytes.is_empty() {
                let mut state =
                    everypath_explore::System::initial(&Network::<P>::new(self.options.clone()));
                state.faults = faults.clone();
                state.read(&mut &bytes[..]);
                earlier = Some(state);
            }
            bytes.clear();
            world.write(&mut bytes);
        }
        let violated = self.properties.iter().find_map(|property| {
            let why = property.check_from(earlier.as_ref(), &world).err()?;
            Some((property.name.clone(), why))
        });
        ((world.nodes, world.ghost), violated)
    }
}
