//! TCP on the loopback interface.

use crate::calls::{Call::*, OptionName, same};

same! {
    a_fresh_socket: [Tcp, Poll(0), Send(0, 1), Receive(0, 1), PeerName(0), Shutdown(0, 2),
        Accept(0)];
    a_listener: [Tcp, Bind(0), Listen(0, 2), Poll(0), Accept(0), Option(0, OptionName::Accepts),
        Receive(0, 1)];
    listening_without_a_name: [Tcp, Listen(0, 1), Accept(0), Poll(0)];
    a_connection: [Tcp, Bind(0), Listen(0, 2), Tcp, Connect(1, 0), Accept(0), Poll(1), Poll(2),
        PeerName(1), PeerName(2)];
    connecting_is_over: [Tcp, Bind(0), Listen(0, 2), Tcp, Connect(1, 0), Accept(0), Connect(1, 0),
        Connect(1, 0)];
    bytes_both_ways: [Tcp, Bind(0), Listen(0, 2), Tcp, Connect(1, 0), Accept(0), Send(1, 3),
        Send(1, 2), Receive(2, 9), Send(2, 4), Receive(1, 2), Receive(1, 9)];
    bytes_before_it_is_accepted: [Tcp, Bind(0), Listen(0, 2), Tcp, Connect(1, 0), Poll(0),
        Send(1, 3), Accept(0), Receive(2, 9)];
    a_peek_leaves_it_there: [Tcp, Bind(0), Listen(0, 2), Tcp, Connect(1, 0), Accept(0),
        Send(1, 4), Peek(2, 2), Peek(2, 9), Unread(2), Receive(2, 9), Unread(2)];
    the_end: [Tcp, Bind(0), Listen(0, 2), Tcp, Connect(1, 0), Accept(0), Send(1, 2), Close(1),
        Receive(2, 9), Poll(2), Receive(2, 9)];
    half_closed: [Tcp, Bind(0), Listen(0, 2), Tcp, Connect(1, 0), Accept(0), Shutdown(1, 1),
        Poll(2), Receive(2, 9), Send(1, 1), Send(2, 3), Receive(1, 9), Poll(1)];
    both_closed: [Tcp, Bind(0), Listen(0, 2), Tcp, Connect(1, 0), Accept(0), Shutdown(1, 1),
        Poll(2), Shutdown(2, 1), Poll(1), Poll(2)];
    sending_to_an_end_that_was_shut_down_resets: [Tcp, Bind(0), Listen(0, 2), Tcp, Connect(1, 0),
        Accept(0), Shutdown(2, 2), Poll(1), Send(1, 3), Poll(2), Poll(1), Receive(2, 9),
        Receive(2, 9), Send(1, 1), Send(1, 1), Receive(1, 9), Shutdown(2, 1), Shutdown(1, 1)];
    shut_down_in_two_steps: [Tcp, Bind(0), Listen(0, 2), Tcp, Connect(1, 0), Accept(0), Send(1, 2),
        Poll(2), Shutdown(2, 0), Send(1, 1), Poll(2), Shutdown(2, 1), Poll(1), Send(1, 1), Poll(2),
        Receive(2, 9), Receive(2, 9), Receive(2, 9), Option(1, OptionName::Error), Poll(1), Close(2),
        Poll(1)];
    closing_with_unread_bytes_resets: [Tcp, Bind(0), Listen(0, 2), Tcp, Connect(1, 0), Accept(0),
        Send(1, 2), Poll(2), Close(2), Poll(1), Receive(1, 1), Receive(1, 1), Send(1, 1)];
    the_error_is_told_once: [Tcp, Bind(0), Listen(0, 2), Tcp, Connect(1, 0), Accept(0),
        Send(1, 2), Poll(2), Close(2), Poll(1), Option(1, OptionName::Error),
        Option(1, OptionName::Error), Poll(1)];
    nobody_listens: [Tcp, Bind(0), Tcp, Connect(1, 0), Poll(1), Option(1, OptionName::Error)];
    a_closed_listener: [Tcp, Bind(0), Listen(0, 1), Close(0), Tcp, Connect(1, 0), Poll(1),
        Option(1, OptionName::Error)];
    several_wait_to_be_accepted: [Tcp, Bind(0), Listen(0, 3), Tcp, Tcp, Connect(1, 0),
        Connect(2, 0), Poll(0), Accept(0), Accept(0), Accept(0), Send(1, 1), Receive(3, 9),
        Receive(4, 9)];
    shutting_a_listener: [Tcp, Bind(0), Listen(0, 3), Shutdown(0, 2), Accept(0), Poll(0)];
    bound_twice: [Tcp, Bind(0), Bind(0)];
    vectors: [Tcp, Bind(0), Listen(0, 2), Tcp, Connect(1, 0), Accept(0), WriteVector(1, 5), Poll(2),
        ReadVector(2, 9)];
    read_and_write: [Tcp, Bind(0), Listen(0, 2), Tcp, Connect(1, 0), Accept(0), Write(1, 5),
        Read(2, 9), Read(2, 9)];
    the_type: [Tcp, Option(0, OptionName::Type), Option(0, OptionName::Error), Flags(0)];
    copies_keep_it_open: [Tcp, Bind(0), Listen(0, 2), Tcp, Connect(1, 0), Accept(0), Dup(1),
        Close(1), Send(3, 1), Receive(2, 9), Close(3), Receive(2, 9)];
}
