//! Sockets, pipes, events and timers that are descriptors.
//!
//! Bytes of a stream are put in at one end and taken out at the other; so are the connections in the
//! backlog of a listener. A step that gets all it asks for sees only its own end, and an operation of
//! its own says so: `SendWhole`, `ReceiveWhole`, `ConnectQueued`, `AcceptQueued`. So does one that
//! finds nothing and waits: `AwaitSpace`, `AwaitBytes`, `AwaitListener`, `AwaitConnection`.

use super::{NONE, Step, Use, everything, nothing, of, of_network};
use crate::{
    Closing, Completion, Connecting, Facet, FaultLimit, Footprint, Global, Mode, Moved, Object,
    Operation, PeerConnection, PollScope, Providers, QueuedConnection, Sending,
};

/// The same call if it sees both ends of its queue: whether what it waits for was there before it.
pub(super) fn at_both_ends(operation: Operation) -> Operation {
    match operation {
        Operation::SendWhole(moved) => Operation::Send(Sending::Queue(moved)),
        Operation::AwaitSpace => Operation::Send(Sending::Queue(Moved::Nothing)),
        Operation::ReceiveWhole(moved) => Operation::Receive(moved),
        Operation::ReceiveAny | Operation::AwaitBytes => Operation::Receive(Moved::Nothing),
        Operation::ConnectQueued(QueuedConnection { socket, .. }) => {
            Operation::Connect(Connecting::Socket(socket))
        }
        Operation::AwaitListener => Operation::Connect(Connecting::Nothing),
        Operation::AcceptQueued(_) | Operation::AwaitConnection => Operation::Accept,
        other => other,
    }
}

/// What a call might be if it came earlier; none if it would touch no more.
pub(super) fn earlier(operation: Operation) -> Option<Operation> {
    match operation {
        Operation::AwaitSpace
        | Operation::ReceiveWhole(_)
        | Operation::ReceiveAny
        | Operation::AwaitBytes
        | Operation::ConnectQueued(_)
        | Operation::AwaitListener => Some(at_both_ends(operation)),
        Operation::AwaitConnection => Some(Operation::AcceptQueued(Moved::Nothing)),
        Operation::Poll(PollScope { arrivals: true, .. }) => {
            Some(Operation::Arrive(FaultLimit::Shared))
        }
        _ => None,
    }
}

/// The uses of a socket whose name or purpose changes: others may ask for them or rely on them.
fn changes(socket: Option<Object>) -> [Use; 2] {
    match socket {
        None => [NONE; 2],
        Some(socket) => [(Mode::Write, socket, Facet::Whole), (Mode::Write, socket, Facet::Open)],
    }
}

fn some(object: Object) -> Option<Object> {
    Some(object).filter(|object| !object.is_none())
}

/// The use of the socket at the other end of a new connection.
fn far_end(step: &Step) -> Use {
    match step.completion {
        Completion::Connected(socket) => (Mode::Write, Object::socket(socket), Facet::Whole),
        _ => NONE,
    }
}

/// All of a queue at which connections meet.
fn whole_queue(step: &Step) -> [Use; 4] {
    [
        step.uses(Mode::Write, Facet::Whole),
        step.uses(Mode::Write, Facet::Head),
        step.uses(Mode::Write, Facet::Tail),
        of_network(),
    ]
}

/// A socket gets an address, or begins to listen there.
pub(super) fn bind(step: &Step, socket: Object) -> Footprint {
    let [name, state] = changes(some(socket));
    of(&[step.uses(Mode::Write, Facet::Whole), of_network(), name, state])
}

/// At an address, connections are put in at one end of the backlog and taken out at the other. Who may
/// find it full, or empty, or nobody there, sees all of that.
pub(super) fn accept(step: &Step) -> Footprint {
    of(&whole_queue(step))
}

/// The same. Others may use the sockets that are connected at the same time.
pub(super) fn connect(step: &Step, socket: Connecting) -> Footprint {
    let [whole, head, tail, network] = whole_queue(step);
    let [name, state] = changes(socket.object());
    of(&[whole, head, tail, network, name, state, far_end(step)])
}

/// Who finds a listener there sees neither when it began to listen nor what is accepted.
pub(super) fn connect_queued(step: &Step, connection: QueuedConnection) -> Footprint {
    let socket = Connecting::Socket(connection.socket);
    if step.providers == Providers::Unknown {
        return connect(step, socket);
    }
    let [name, state] = changes(socket.object());
    of(&[step.uses(Mode::Write, Facet::Tail), of_network(), name, state, far_end(step)])
}

/// A connection is accepted that was there before.
pub(super) fn accept_queued(step: &Step) -> Footprint {
    match step.providers {
        Providers::Unknown => accept(step),
        Providers::Known => of(&[step.uses(Mode::Write, Facet::Head), of_network()]),
    }
}

/// Connections to peers do not see each other, but see who begins to listen here. A peer whose answers
/// depend on other connections sees the order in which it is met.
pub(super) fn connect_peer(step: &Step, connection: PeerConnection) -> Footprint {
    let [name, state] = changes(some(connection.socket));
    let turn = if connection.in_turn { in_turn() } else { NONE };
    of(&[step.uses(Mode::Read, Facet::Whole), of_network(), name, state, turn])
}

/// The use of what clients have received, and servers whose answers depend on other connections.
fn in_turn() -> Use {
    (Mode::Write, Object::global(Global::FaultBudget), Facet::Whole)
}

/// Nobody listens yet, or nobody any more: only the latter could have been otherwise.
pub(super) fn await_listener(step: &Step) -> Footprint {
    of(&[step.uses(Mode::Read, Facet::Gone)])
}

/// That bytes or connections are awaited is seen by nobody, and whether they come before or after that
/// makes no difference; but another thread may have been faster to take them.
pub(super) fn await_arrival(step: &Step) -> Footprint {
    of(&[step.uses(Mode::Read, Facet::Head)])
}

/// The same for space.
pub(super) fn await_space(step: &Step) -> Footprint {
    step.alone(Mode::Read)
}

/// Something is put in that fits whatever others take out, or an object is configured.
pub(super) fn put(step: &Step) -> Footprint {
    of(&[step.uses(Mode::Write, Facet::Whole), of_network()])
}

/// Something is sent. A client that receives it answers there, or to where it came from, which is seen
/// by whoever looks at datagrams.
pub(super) fn send(step: &Step, sending: Sending) -> Footprint {
    let puts = step.uses(Mode::Write, Facet::Whole);
    match sending {
        Sending::Queue(_) => of(&[puts, step.uses(Mode::Read, Facet::Head), of_network()]),
        Sending::Client => {
            of(&[puts, step.uses(Mode::Write, Facet::Head), of_network(), in_turn()])
        }
    }
}

/// A datagram leaves for a peer, unless somebody binds to that address here.
pub(super) fn send_away(step: &Step) -> Footprint {
    of(&[step.uses(Mode::Read, Facet::Whole), of_network()])
}

/// Something is received, as much as is there.
pub(super) fn receive(step: &Step) -> Footprint {
    of(&[step.uses(Mode::Write, Facet::Head), step.uses(Mode::Read, Facet::Whole), of_network()])
}

/// All is received that was asked for: only that it was put in is seen of the other end.
pub(super) fn receive_whole(step: &Step) -> Footprint {
    match step.providers {
        Providers::Unknown => receive(step),
        Providers::Known => of(&[step.uses(Mode::Write, Facet::Head), of_network()]),
    }
}

/// One of the datagrams that are there; of those that are sent later it could be another one.
pub(super) fn receive_any(step: &Step) -> Footprint {
    match step.providers {
        Providers::Unknown => receive(step),
        Providers::Known => of(&[
            step.uses(Mode::Write, Facet::Head),
            step.uses(Mode::Miss, Facet::Whole),
            of_network(),
        ]),
    }
}

/// A socket is closed or shut down.
pub(super) fn close(step: &Step, closing: Closing) -> Footprint {
    let [whole, head, tail, network] = whole_queue(step);
    let open = step.uses(Mode::Write, Facet::Open);
    match closing {
        Closing::Backlog => everything(),
        Closing::Alone => {
            of(&[whole, head, tail, step.uses(Mode::Write, Facet::Gone), network, open])
        }
        Closing::OtherEnd(other) => {
            let other_head = (Mode::Write, other, Facet::Head);
            of(&[whole, head, (Mode::Write, other, Facet::Whole), other_head, network, open])
        }
    }
}

/// The state of a socket is asked for; or whether calls wait is changed, in both directions.
pub(super) fn state(step: &Step, other_end: Object) -> Footprint {
    let [whole, head, tail, network] = whole_queue(step);
    match some(other_end) {
        None => of(&[whole, head, tail, network]),
        Some(other) => {
            let other_head = (Mode::Write, other, Facet::Head);
            of(&[whole, head, tail, (Mode::Write, other, Facet::Whole), other_head, network])
        }
    }
}

/// The uses of the datagrams at a socket, or at all of them.
fn datagrams(step: &Step, mode: Mode) -> [Use; 3] {
    match some(step.object) {
        None => [(mode, Object::global(Global::Network), Facet::Whole), NONE, NONE],
        Some(_) => [step.uses(mode, Facet::Whole), step.uses(mode, Facet::Head), of_network()],
    }
}

/// A call looks which descriptors are ready.
pub(super) fn poll(step: &Step, scope: PollScope) -> Footprint {
    let mode = if scope.clients { Mode::Read } else { Mode::Nothing };
    with_budget(datagrams(step, Mode::Read), mode)
}

/// Datagrams in flight are lost or arrive when somebody looks. If the faults are limited, what may be
/// lost depends on what others lost; and what clients send depends on what they received.
pub(super) fn arrive(step: &Step, limit: FaultLimit) -> Footprint {
    let mode = match limit {
        FaultLimit::None => Mode::Nothing,
        FaultLimit::Shared => Mode::Write,
    };
    with_budget(datagrams(step, Mode::Write), mode)
}

fn with_budget([first, second, third]: [Use; 3], mode: Mode) -> Footprint {
    let budget = (mode, Object::global(Global::FaultBudget), Facet::Whole);
    of(&[first, second, third, budget])
}

/// A fault: only a connection that breaks is seen by others.
pub(super) fn fault(step: &Step) -> Footprint {
    if step.object.is_none() {
        return nothing();
    }
    of(&[step.uses(Mode::Write, Facet::Whole), step.uses(Mode::Write, Facet::Head), of_network()])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{limited, on};
    use super::*;
    use crate::Phase;

    const SOCKET: Object = Object::socket(1);
    const ADDRESS: Object = Object::address(80);
    const MOVED: Moved = Moved::Unknown;

    fn queued(socket: u16) -> Operation {
        let entry = crate::Span { end: 2, count: 2 };
        Operation::ConnectQueued(QueuedConnection { socket, entry })
    }

    #[test]
    fn each_end_of_a_stream_is_used_unseen_by_the_other() {
        let send = on(SOCKET, Operation::SendWhole(MOVED));
        for operation in [Operation::ReceiveWhole(MOVED), Operation::AwaitBytes] {
            assert!(send.commutes(&on(SOCKET, operation)), "{operation:?}");
            assert!(!send.commutes(&limited(SOCKET, operation)), "{operation:?}");
        }
        assert!(
            !send.commutes(&on(SOCKET, Operation::Receive(MOVED))),
            "it gets less than it asks for"
        );
        assert!(!send.commutes(&send));
    }

    #[test]
    fn what_several_steps_put_in_depends_on_all_of_them() {
        let send = on(SOCKET, Operation::SendWhole(MOVED));
        let step = Step::new(Operation::ReceiveWhole(MOVED), Phase::Request, SOCKET);
        assert!(send.commutes(&step.footprint()) && step.may_touch().is_some());
        let unknown = Step { providers: Providers::Unknown, ..step };
        assert!(!send.commutes(&unknown.footprint()));
        assert!(unknown.may_touch().is_none(), "it touches that already");
    }

    #[test]
    fn one_of_several_datagrams_may_be_another_one() {
        let receive = on(SOCKET, Operation::ReceiveAny);
        let send = on(SOCKET, Operation::SendWhole(MOVED));
        assert!(send.commutes(&receive) && !receive.commutes(&send));
        assert_eq!(receive.misses_at(), Some(SOCKET.facet(Facet::Whole)));
    }

    #[test]
    fn connections_enter_a_backlog_unseen_by_who_accepts() {
        let (connect, accept) = (on(ADDRESS, queued(1)), Operation::AcceptQueued(MOVED));
        assert!(connect.commutes(&on(ADDRESS, accept)));
        assert!(!connect.commutes(&on(ADDRESS, Operation::Accept)));
        assert!(!connect.commutes(&on(ADDRESS, queued(2))), "they enter in an order");
        let listen = on(ADDRESS, Operation::Listen(Object::socket(9)));
        assert!(listen.commutes(&connect));
        assert!(!listen.commutes(&on(ADDRESS, Operation::Connect(Connecting::Socket(1)))));
    }

    #[test]
    fn the_far_end_of_a_connection_shows_when_it_is_made() {
        let step = Step::new(queued(1), Phase::Request, ADDRESS);
        let other = on(Object::socket(7), Operation::SendWhole(MOVED));
        assert!(step.footprint().commutes(&other));
        let connected = Step { completion: Completion::Connected(7), ..step };
        assert!(!connected.footprint().commutes(&other));
    }

    #[test]
    fn closing_is_seen_at_the_other_end() {
        let other = Object::socket(2);
        let close = on(SOCKET, Operation::Close(Closing::OtherEnd(other)));
        assert!(!close.commutes(&on(other, Operation::ReceiveWhole(MOVED))));
        assert!(close.commutes(&on(Object::socket(3), Operation::ReceiveWhole(MOVED))));
        assert!(on(ADDRESS, Operation::Close(Closing::Backlog)).conflicts_with_all());
        let gone = on(ADDRESS, Operation::Close(Closing::Alone));
        assert!(!gone.commutes(&on(ADDRESS, Operation::AwaitListener)));
    }

    #[test]
    fn a_look_at_several_sockets_sees_each() {
        let poll = on(Object::NONE, Operation::Poll(PollScope::default()));
        let send = |socket| on(Object::socket(socket), Operation::SendWhole(MOVED));
        assert!(!poll.commutes(&send(1)) && !poll.commutes(&send(2)) && send(1).commutes(&send(2)));
        assert!(poll.commutes(&poll));
    }

    #[test]
    fn a_shared_limit_orders_what_arrives_at_different_sockets() {
        let arrive = |socket, limit| on(Object::socket(socket), Operation::Arrive(limit));
        let none = [1, 2].map(|socket| arrive(socket, FaultLimit::None));
        let shared = [1, 2].map(|socket| arrive(socket, FaultLimit::Shared));
        assert!(none[0].commutes(&none[1]) && !shared[0].commutes(&shared[1]));
        let client = on(Object::socket(3), Operation::Send(Sending::Client));
        assert!(!client.commutes(&shared[0]));
    }

    #[test]
    fn connections_to_a_peer_that_remembers_them_have_an_order() {
        let connect = |number, in_turn| {
            let connection = PeerConnection { socket: Object::socket(number), in_turn };
            on(ADDRESS, Operation::ConnectPeer(connection))
        };
        assert!(connect(1, false).commutes(&connect(2, false)));
        assert!(!connect(1, true).commutes(&connect(2, true)));
        let send = on(Object::socket(3), Operation::Send(Sending::Client));
        assert!(!connect(1, true).commutes(&send) && !send.commutes(&connect(1, true)));
    }

    #[test]
    fn only_a_broken_connection_is_a_fault_that_others_see() {
        let receive = on(SOCKET, Operation::ReceiveWhole(MOVED));
        assert!(on(Object::NONE, Operation::Fault(crate::Fault::Interrupt)).commutes(&receive));
        assert!(!on(SOCKET, Operation::Fault(crate::Fault::Reset)).commutes(&receive));
    }
}
