//! `epoll`.

use crate::calls::{Call::*, EDGE, IN, ONE_SHOT, OUT, READ_HANG_UP, same};

same! {
    nothing_is_watched: [Epoll, EpollWait(0, 4), Poll(0)];
    a_pipe_becomes_readable: [Epoll, Pipe, EpollAdd(0, 1, IN), EpollWait(0, 4), Write(2, 1),
        EpollWait(0, 4), EpollWait(0, 4), Read(1, 1), EpollWait(0, 4)];
    both_ends: [Epoll, Pipe, EpollAdd(0, 1, IN), EpollAdd(0, 2, OUT), EpollWait(0, 4),
        Write(2, 1), EpollWait(0, 4)];
    an_edge_is_told_once: [Epoll, Pipe, EpollAdd(0, 1, IN | EDGE), Write(2, 1), EpollWait(0, 4),
        EpollWait(0, 4), Write(2, 1), EpollWait(0, 4), EpollWait(0, 4)];
    one_shot: [Epoll, Pipe, EpollAdd(0, 1, IN | ONE_SHOT), Write(2, 1), EpollWait(0, 4),
        Write(2, 1), EpollWait(0, 4), EpollModify(0, 1, IN | ONE_SHOT), EpollWait(0, 4),
        EpollWait(0, 4)];
    added_twice: [Epoll, Pipe, EpollAdd(0, 1, IN), EpollAdd(0, 1, OUT)];
    not_there: [Epoll, Pipe, EpollModify(0, 1, IN), EpollDelete(0, 1)];
    deleted: [Epoll, Pipe, EpollAdd(0, 1, IN), Write(2, 1), EpollDelete(0, 1), EpollWait(0, 4)];
    modified: [Epoll, StreamPair, EpollAdd(0, 1, IN), EpollWait(0, 4), EpollModify(0, 1, OUT),
        EpollWait(0, 4)];
    hang_up: [Epoll, Pipe, EpollAdd(0, 1, 0), Close(2), EpollWait(0, 4)];
    an_error: [Epoll, Pipe, EpollAdd(0, 2, 0), Close(1), EpollWait(0, 4)];
    a_half_closed_stream: [Epoll, StreamPair, EpollAdd(0, 1, IN | READ_HANG_UP), Shutdown(2, 1),
        EpollWait(0, 4)];
    a_closed_descriptor_is_forgotten: [Epoll, Pipe, EpollAdd(0, 1, IN), Write(2, 1), Close(1),
        EpollWait(0, 4)];
    a_copy_is_another: [Epoll, Pipe, Dup(1), EpollAdd(0, 1, IN), EpollAdd(0, 3, IN), Write(2, 1),
        EpollWait(0, 4)];
    a_closed_copy_still_reports: [Epoll, Pipe, Dup(1), EpollAdd(0, 1, IN), Write(2, 1), Close(1),
        EpollWait(0, 4)];
    events: [Epoll, Eventfd(0), EpollAdd(0, 1, IN | OUT), EpollWait(0, 4), Add(1, 1),
        EpollWait(0, 4)];
    nested: [Epoll, Epoll, Eventfd(1), EpollAdd(1, 2, IN), EpollAdd(0, 1, IN), EpollWait(0, 4),
        Poll(0), Read(2, 8), EpollWait(0, 4)];
    itself: [Epoll, EpollAdd(0, 0, IN)];
    not_an_epoll: [Pipe, Eventfd(0), EpollAdd(0, 2, IN), EpollWait(2, 1)];
    no_room: [Epoll, EpollWait(0, 0)];
    closed: [Epoll, Close(0), EpollWait(0, 1), Pipe, EpollAdd(0, 1, IN)];
    read_and_write_it: [Epoll, Read(0, 8), Write(0, 8)];
    a_listener: [Epoll, Unix, Bind(1), Listen(1, 4), EpollAdd(0, 1, IN), Unix, EpollWait(0, 4),
        Connect(2, 1), EpollWait(0, 4), Accept(1), EpollWait(0, 4)];
}
