//! Unix sockets: connected pairs, names, streams and datagrams.

use crate::calls::{Call::*, OptionName, same};

same! {
    both_directions: [StreamPair, Send(0, 3), Send(1, 2), Receive(1, 9), Receive(0, 9)];
    a_stream_has_no_boundaries: [StreamPair, Send(0, 3), Send(0, 4), Receive(1, 5), Receive(1, 5)];
    nothing_is_there: [StreamPair, Receive(0, 1), Peek(0, 1), Read(1, 1)];
    read_and_write: [StreamPair, Write(0, 5), Read(1, 3), WriteVector(0, 4), ReadVector(1, 9)];
    a_peek_leaves_it_there: [StreamPair, Send(0, 4), Peek(1, 2), Peek(1, 9), Receive(1, 9)];
    an_empty_receive: [StreamPair, Send(1, 1), Receive(0, 0), Read(0, 0), Receive(0, 1)];
    an_empty_send: [StreamPair, Send(0, 0), Receive(1, 1)];
    the_end_of_a_closed_stream: [StreamPair, Send(0, 2), Close(0), Poll(1), Receive(1, 9),
        Receive(1, 9), Poll(1), Send(1, 1)];
    closing_with_unread_bytes: [StreamPair, Send(1, 2), Close(0), Poll(1), Receive(1, 1),
        Receive(1, 1), Send(1, 1)];
    unread_bytes_and_the_last_words: [StreamPair, Send(0, 3), Send(1, 2), Close(0), Receive(1, 9),
        Receive(1, 9)];
    half_closed: [StreamPair, Shutdown(0, 1), Poll(0), Poll(1), Receive(1, 1), Send(0, 1),
        Send(1, 2), Receive(0, 9)];
    receiving_is_shut: [StreamPair, Shutdown(0, 0), Poll(0), Poll(1), Receive(0, 1), Send(1, 1)];
    what_was_there_before_it_was_shut: [StreamPair, Send(1, 3), Shutdown(0, 0), Receive(0, 9),
        Receive(0, 9)];
    all_is_shut: [StreamPair, Shutdown(0, 2), Poll(0), Poll(1), Receive(0, 1), Receive(1, 1),
        Send(0, 1), Send(1, 1)];
    shut_twice: [StreamPair, Shutdown(0, 1), Shutdown(0, 1), Shutdown(0, 0), Poll(0)];
    both_shut_sending: [StreamPair, Shutdown(0, 1), Shutdown(1, 1), Poll(0), Poll(1)];
    readiness: [StreamPair, Poll(0), Send(1, 1), Poll(0), Receive(0, 1), Poll(0)];
    unread_bytes_are_counted: [StreamPair, Send(0, 5), Unread(1), Unread(0), Receive(1, 2),
        Unread(1)];
    copies_keep_it_open: [StreamPair, Dup(0), Close(0), Send(2, 1), Receive(1, 1), Close(2),
        Receive(1, 1)];
    the_types: [StreamPair, DatagramPair, Option(0, OptionName::Type), Option(2, OptionName::Type),
        Option(0, OptionName::Accepts), Option(0, OptionName::Error)];
    the_peer_has_a_name: [StreamPair, PeerName(0), Close(1), PeerName(0)];
    flags: [StreamPair, Flags(0), Flags(1)];
    a_fresh_socket: [Unix, Poll(0), Send(0, 1), Receive(0, 1), Shutdown(0, 2), PeerName(0)];
    a_listener: [Unix, Bind(0), Listen(0, 1), Poll(0), Accept(0), Option(0, OptionName::Accepts)];
    not_bound: [Unix, Listen(0, 1), Accept(0)];
    a_connection: [Unix, Bind(0), Listen(0, 1), Unix, Connect(1, 0), Poll(0), Accept(0), Poll(0),
        Send(1, 3), Receive(2, 9), Send(2, 2), Receive(1, 9)];
    before_it_is_accepted: [Unix, Bind(0), Listen(0, 1), Unix, Connect(1, 0), Send(1, 3), Poll(1),
        Accept(0), Receive(2, 9)];
    nobody_listens: [Unix, Bind(0), Unix, Connect(1, 0), Poll(1)];
    a_closed_listener: [Unix, Bind(0), Listen(0, 1), Close(0), Unix, Connect(1, 0)];
    a_listener_is_closed_before_it_accepts: [Unix, Bind(0), Listen(0, 1), Unix, Connect(1, 0),
        Close(0), Poll(1), Receive(1, 1)];
    a_backlog: [Unix, Bind(0), Listen(0, 0), Unix, Unix, Connect(1, 0), Connect(2, 0), Accept(0),
        Connect(2, 0)];
    connected_twice: [Unix, Bind(0), Listen(0, 3), Unix, Connect(1, 0), Connect(1, 0)];
    bound_twice: [Unix, Bind(0), Bind(0)];
    datagrams_keep_apart: [DatagramPair, Send(0, 3), Send(0, 4), Receive(1, 9), Receive(1, 9),
        Receive(1, 9)];
    a_datagram_is_cut_off: [DatagramPair, Send(0, 5), Send(0, 2), Receive(1, 3), Receive(1, 3)];
    the_real_length: [DatagramPair, Send(0, 5), ReceiveTruncated(1, 3)];
    an_empty_datagram: [DatagramPair, Send(0, 0), Poll(1), Receive(1, 9), Receive(1, 9)];
    a_datagram_is_peeked: [DatagramPair, Send(0, 3), Send(0, 2), Peek(1, 9), Peek(1, 1),
        Receive(1, 9), Peek(1, 9)];
    the_next_datagram_is_measured: [DatagramPair, Unread(1), Send(0, 3), Send(0, 2), Unread(1)];
    datagrams_to_nobody: [DatagramPair, Send(0, 1), Close(1), Send(0, 1), Poll(0)];
    datagrams_of_the_closed: [DatagramPair, Send(0, 2), Close(0), Receive(1, 9), Receive(1, 9),
        Poll(1)];
    datagrams_and_shutdown: [DatagramPair, Shutdown(0, 1), Send(0, 1), Send(1, 1), Receive(0, 9)];
    datagrams_to_a_name: [UnixDatagram, Bind(0), UnixDatagram, SendTo(1, 3, 0), Poll(0),
        ReceiveFrom(0, 9)];
    datagrams_from_a_name: [UnixDatagram, Bind(0), UnixDatagram, Bind(1), SendTo(1, 3, 0),
        ReceiveFrom(0, 9)];
    connected_datagrams: [UnixDatagram, Bind(0), UnixDatagram, Connect(1, 0), Send(1, 2),
        Receive(0, 9), PeerName(1), PeerName(0)];
    datagrams_without_an_address: [UnixDatagram, Send(0, 1), Poll(0), Receive(0, 1)];
    datagrams_to_a_closed_name: [UnixDatagram, Bind(0), UnixDatagram, Close(0), SendTo(1, 1, 0),
        Connect(1, 0)];
}
