//! The layout of what is shared, pinned.
//!
//! The shim and the checker are compiled apart, from these sources, with other profiles. What an
//! assertion here says holds on both sides, since both compile it. A size that changes is written
//! here, and [`VERSION`](crate::VERSION) goes up with it.

use crate::{
    BatchEntry, Choice, Command, Counters, Datagrams, EnabledStep, Event, FileHeader, Grant,
    JointRequest, LogEntry, MessageEvent, ModuleEntry, Notice, PackedCompletion, PackedOperation,
    PatchHeader, PeerRequest, Record, Region, Reply, Setup, StubFrame, ThreadEntry, Upcall,
    UpcallReply, userfault,
};
use core::mem::offset_of;

macro_rules! layout {
    ($($type:ty: $size:literal bytes, aligned to $align:literal;)*) => {
        $(const _: () = {
            assert!(size_of::<$type>() == $size, concat!("the size of ", stringify!($type)));
            assert!(align_of::<$type>() == $align, concat!("the alignment of ", stringify!($type)));
        };)*
    };
}

layout! {
    Setup: 680 bytes, aligned to 8;
    Datagrams: 416 bytes, aligned to 4;
    Command: 72 bytes, aligned to 8;
    Reply: 608 bytes, aligned to 16;
    Counters: 112 bytes, aligned to 8;
    BatchEntry: 12 bytes, aligned to 4;
    Record: 12 bytes, aligned to 4;
    Notice: 4 bytes, aligned to 2;
    LogEntry: 32 bytes, aligned to 8;
    ModuleEntry: 536 bytes, aligned to 8;
    ThreadEntry: 88 bytes, aligned to 8;
    Choice: 4 bytes, aligned to 2;
    EnabledStep: 24 bytes, aligned to 8;
    Event: 56 bytes, aligned to 8;
    MessageEvent: 32 bytes, aligned to 8;
    FileHeader: 16 bytes, aligned to 8;
    PatchHeader: 16 bytes, aligned to 8;
    StubFrame: 32 bytes, aligned to 8;
    Upcall: 176 bytes, aligned to 8;
    PeerRequest: 168 bytes, aligned to 8;
    JointRequest: 128 bytes, aligned to 4;
    UpcallReply: 16 bytes, aligned to 4;
    Grant: 12 bytes, aligned to 4;
}

// What the shim keeps on the stacks of threads, which are hashed: two words, so no padding.
layout! {
    PackedOperation: 16 bytes, aligned to 8;
    PackedCompletion: 16 bytes, aligned to 8;
}

// What the kernel writes.
layout! {
    userfault::Pages: 24 bytes, aligned to 8;
}

const _: () = {
    // The version is read before anything else is known.
    assert!(offset_of!(Region, version) == 0);
    // Whoever spins on one of these is not slowed down by writes to what is beside it.
    assert!(align_of::<Region>() == 128);
    assert!(offset_of!(Region, turn) == 128);
    assert!(offset_of!(Region, progress) == 256);
    assert!(offset_of!(Region, setup) == 384);
    assert!(offset_of!(Region, hurry).is_multiple_of(128));
    assert!(offset_of!(Region, recorded) == offset_of!(Region, hurry) + 128);
    assert!(offset_of!(Region, records) == offset_of!(Region, recorded) + 128);
};
