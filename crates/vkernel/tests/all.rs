//! The kernel without a program: the same calls here and to the kernel of the machine.

mod blocking;
mod calls;
mod epoll;
mod eventfd;
mod kernel;
mod machine;
mod memory;
mod model;
mod pipe;
mod random;
mod tcp;
mod udp;
mod unix;
