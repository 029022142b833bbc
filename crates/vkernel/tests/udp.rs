//! UDP on the loopback interface.

use crate::calls::{Call::*, OptionName, same};

same! {
    a_fresh_socket: [Udp, Poll(0), Receive(0, 1), PeerName(0), Send(0, 1), Flags(0)];
    a_datagram: [Udp, Bind(0), Udp, Bind(1), SendTo(1, 3, 0), ReceiveFrom(0, 9),
        ReceiveFrom(0, 9)];
    datagrams_keep_apart: [Udp, Bind(0), Udp, Bind(1), SendTo(1, 3, 0), SendTo(1, 2, 0),
        ReceiveFrom(0, 9), ReceiveFrom(0, 9)];
    a_datagram_is_cut_off: [Udp, Bind(0), Udp, Bind(1), SendTo(1, 5, 0), SendTo(1, 2, 0),
        Receive(0, 3), Receive(0, 3)];
    the_real_length: [Udp, Bind(0), Udp, Bind(1), SendTo(1, 5, 0), Poll(0),
        ReceiveTruncated(0, 3)];
    an_empty_datagram: [Udp, Bind(0), Udp, SendTo(1, 0, 0), Poll(0), Receive(0, 9), Receive(0, 9)];
    a_datagram_is_peeked: [Udp, Bind(0), Udp, Bind(1), SendTo(1, 3, 0), Poll(0), Peek(0, 9),
        Peek(0, 1), Receive(0, 9), Peek(0, 9)];
    the_next_datagram_is_measured: [Udp, Bind(0), Udp, Unread(0), SendTo(1, 3, 0),
        SendTo(1, 5, 0), Poll(0), Unread(0)];
    connected: [Udp, Bind(0), Udp, Bind(1), Connect(1, 0), Send(1, 2), ReceiveFrom(0, 9),
        PeerName(1), PeerName(0)];
    only_from_whom_it_is_connected_to: [Udp, Bind(0), Udp, Bind(1), Udp, Bind(2), Connect(0, 1),
        SendTo(2, 3, 0), SendTo(1, 2, 0), ReceiveFrom(0, 9), ReceiveFrom(0, 9)];
    to_itself: [Udp, Bind(0), SendTo(0, 2, 0), ReceiveFrom(0, 9)];
    too_long: [Udp, Bind(0), Udp, SendTo(1, 65_508, 0), SendTo(1, 65_507, 0), Poll(0)];
    shutdown: [Udp, Bind(0), Udp, Bind(1), Connect(1, 0), Shutdown(1, 1), Send(1, 1),
        SendTo(0, 2, 1), ReceiveFrom(1, 9)];
    shutdown_without_a_peer: [Udp, Bind(0), Shutdown(0, 2)];
    no_stream: [Udp, Bind(0), Listen(0, 1), Accept(0)];
    bound_twice: [Udp, Bind(0), Bind(0)];
    the_type: [Udp, Option(0, OptionName::Type), Option(0, OptionName::Accepts)];
    readiness: [Udp, Bind(0), Udp, Bind(1), SendTo(1, 1, 0), Poll(0), Poll(1), Receive(0, 9),
        Poll(0)];
    vectors: [Udp, Bind(0), Udp, Connect(1, 0), WriteVector(1, 6), Poll(0), ReadVector(0, 9)];
}
