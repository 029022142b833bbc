//! Pipes.

use crate::calls::{Call::*, same};

same! {
    bytes_arrive_in_order: [Pipe, Write(1, 3), Write(1, 4), Read(0, 5), Read(0, 5), Read(0, 5)];
    an_empty_pipe_would_block: [Pipe, Read(0, 1)];
    nothing_is_read_of_nothing: [Pipe, Read(0, 0), Write(1, 0), Read(0, 1)];
    the_end_of_a_closed_writer: [Pipe, Write(1, 2), Close(1), Read(0, 1), Read(0, 9), Read(0, 9)];
    a_closed_reader_breaks_the_pipe: [Pipe, Close(0), Write(1, 1), Write(1, 0), Poll(1)];
    the_wrong_end: [Pipe, Read(1, 1), Write(0, 1)];
    both_ends_are_polled: [Pipe, Poll(0), Poll(1), Write(1, 1), Poll(0), Poll(1)];
    a_hang_up_is_polled: [Pipe, Write(1, 1), Close(1), Poll(0), Read(0, 1), Poll(0)];
    a_second_writer_keeps_it_open: [Pipe, Dup(1), Close(1), Poll(0), Write(2, 1), Read(0, 2),
        Close(2), Read(0, 1)];
    a_second_reader_keeps_it_open: [Pipe, Dup(0), Close(0), Write(1, 1), Read(2, 1)];
    unread_bytes_are_counted: [Pipe, Unread(0), Write(1, 7), Unread(0), Unread(1), Read(0, 2),
        Unread(0)];
    flags_say_how_an_end_is_open: [Pipe, Flags(0), Flags(1)];
    vectors: [Pipe, WriteVector(1, 7), ReadVector(0, 5), ReadVector(0, 5)];
    a_full_pipe: [Pipe, Write(1, 65_536), Poll(1), Write(1, 1), Read(0, 4096), Poll(1),
        Write(1, 4096), Write(1, 1)];
    too_much_for_a_pipe: [Pipe, Write(1, 70_000), Read(0, 70_000), Read(0, 1)];
    small_writes_are_whole: [Pipe, Write(1, 61_440), Write(1, 4097), Read(0, 65_536)];
    closed_descriptors: [Pipe, Close(0), Read(0, 1), Close(0), Poll(0), Unread(0), Flags(0)];
    not_a_socket: [Pipe, Send(1, 1), Receive(0, 1), Shutdown(0, 0), Listen(0, 1), PeerName(1)];
}
