//! The kernel without a program: the same calls here and to the kernel of the machine.

mod blocking;
mod calls;
mod clock;
mod epoll;
mod eventfd;
mod files;
mod futex;
mod kernel;
mod machine;
mod memory;
mod model;
mod pipe;
mod random;
mod random_bytes;
mod signal;
mod tcp;
mod timer;
mod udp;
mod unix;
