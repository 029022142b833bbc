//! Event counters.

use crate::calls::{Call::*, same};

const MOST: u64 = u64::MAX - 1;

same! {
    the_whole_counter_is_read: [Eventfd(3), Read(0, 8), Read(0, 8)];
    a_semaphore_gives_one_at_a_time: [Semaphore(2), Read(0, 8), Read(0, 8), Read(0, 8)];
    values_add_up: [Eventfd(0), Add(0, 5), Add(0, 6), Read(0, 8)];
    nothing_is_added: [Eventfd(0), Add(0, 0), Read(0, 8), Poll(0)];
    too_short_a_buffer: [Eventfd(1), Read(0, 7), Write(0, 7), Read(0, 8)];
    a_longer_buffer: [Eventfd(1), Read(0, 100)];
    the_largest_value: [Eventfd(0), Add(0, MOST), Poll(0), Add(0, 1), Read(0, 8), Poll(0)];
    a_value_that_is_none: [Eventfd(0), Add(0, u64::MAX)];
    readiness: [Eventfd(0), Poll(0), Add(0, 1), Poll(0), Read(0, 8), Poll(0)];
    readiness_of_a_semaphore: [Semaphore(2), Poll(0), Read(0, 8), Poll(0), Read(0, 8), Poll(0)];
    a_copy_shares_the_counter: [Eventfd(0), Dup(0), Add(1, 4), Close(1), Read(0, 8)];
    flags: [Eventfd(0), Flags(0)];
    a_vector_is_one_buffer: [Eventfd(7), ReadVector(0, 16)];
    a_vector_whose_parts_are_too_short: [Eventfd(7), ReadVector(0, 8)];
    not_a_socket: [Eventfd(1), Send(0, 8), Shutdown(0, 2), Bind(0), PeerName(0)];
    not_unread_bytes: [Eventfd(1), Unread(0)];
}
