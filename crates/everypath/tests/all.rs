//! One binary for all of these tests: it is linked once, and they run side by side.

mod charts;
mod check;
mod classics;
mod closed;
mod command_line;
mod crates;
mod doctor;
mod faults;
mod incremental;
mod joint;
mod joint_pairs;
mod leaks;
mod limits;
mod network_programs;
mod pages;
mod peers;
mod properties;
mod races;
mod real_programs;
mod rust_locks;
mod states;
mod streams;
mod support;
mod udp;
mod verdicts;
mod verify;
