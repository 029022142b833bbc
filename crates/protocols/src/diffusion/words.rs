//! Descriptions of directed diffusion's states and steps, for traces.

use super::{Command, Diffusion, Node, Packet, Timer};
use everypath_net::{Cause, Envelope, NodeId};
use std::fmt;

/// A packet in flight.
pub(super) fn packet(envelope: &Envelope<Packet>) -> String {
    let Envelope { from, to, packet } = envelope;
    let rate = match packet {
        Packet::Data(data) if data.reinforced => " (reinforced)",
        _ => "",
    };
    format!("{packet} {from}->{to}{rate}")
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        for gradient in &self.gradients {
            let kind = if gradient.reinforced { "reinforced" } else { "exploratory" };
            parts.push(format!("{kind} gradient to {}", gradient.to));
        }
        for sample in &self.samples {
            parts.push(format!("data from {}", sample.from));
        }
        if self.waiting {
            parts.push("waits after a reboot".into());
        }
        if parts.is_empty() {
            parts.push("knows nothing".into());
        }
        f.write_str(&parts.join("; "))
    }
}

impl Diffusion {
    /// What happens at a node.
    pub(super) fn words(&self, id: NodeId, node: &Node, cause: Cause<Self>) -> String {
        match cause {
            Cause::Packet(from, packet) if node.waiting => {
                format!("{packet} from {from} is ignored after the reboot")
            }
            Cause::Packet(from, Packet::Interest) => self.interest_words(id, node, from),
            Cause::Packet(from, Packet::Data(data)) => {
                let seen = node.samples.iter().any(|sample| sample.data == data);
                match () {
                    () if seen => format!("data comes from {from}, which was seen before"),
                    () if id == self.sink && data.reinforced => format!("data comes from {from}"),
                    () if id == self.sink => {
                        format!("data comes from {from}, which is reinforced")
                    }
                    () if node.gradients.is_empty() => {
                        format!("data comes from {from}, and nobody wants it")
                    }
                    () => format!("data comes from {from} and is passed on"),
                }
            }
            Cause::Packet(from, Packet::Positive) => {
                if node.gradients.iter().all(|gradient| gradient.to != from) {
                    return format!("{from} wants more, but is not interested");
                }
                let preferred = node.preferred().filter(|sample| sample.from != id);
                let onward = preferred.map_or(String::new(), |sample| {
                    format!(", and {} was first with the latest", sample.from)
                });
                format!("{from} wants more{onward}")
            }
            Cause::Packet(from, Packet::Negative) => format!("{from} wants less"),
            Cause::Timer(Timer::Gradient(to)) => format!("the gradient to {to} is removed"),
            Cause::Timer(Timer::Data(_)) => "data leaves the cache".into(),
            Cause::Timer(Timer::Quiet) => "the interest may be passed on again".into(),
            Cause::Timer(Timer::Wait) => "the node takes part again".into(),
            Cause::Command(Command::Subscribe) => "the interest is sent".into(),
            Cause::Command(Command::Sense(_)) => "something is sensed".into(),
            Cause::Reboot if self.wait => "the node reboots and waits".into(),
            Cause::Reboot => "the node reboots and knows nothing any more".into(),
        }
    }

    fn interest_words(&self, id: NodeId, node: &Node, from: NodeId) -> String {
        if id == self.sink {
            format!("its own interest comes from {from}")
        } else if node.gradients.iter().any(|gradient| gradient.to == from) {
            format!("the interest of {from} is known")
        } else if node.quiet {
            format!("{from} is interested")
        } else if id == self.source {
            format!("{from} is interested; the interest is passed on and data is sent")
        } else {
            format!("{from} is interested; the interest is passed on")
        }
    }
}
