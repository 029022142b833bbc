//! Patch sites: instructions of the program at which the shim is called.
//!
//! The checker finds them, writes a stub for each and a table of [`Site`]s; the shim reads the table
//! while the program runs. Both match [`SiteKind`] exhaustively, so a new kind does not compile before
//! both know it.

use crate::UnknownNumber;

/// What a patched instruction, or the function that begins there, does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SiteKind {
    /// `lock cmpxchg`, `cmpxchg8b`, `cmpxchg16b`.
    CompareExchange,
    /// `xchg` with memory.
    Exchange,
    /// Any other locked instruction: `xadd`, `add`, `or`, `bts` and their kin.
    FetchModify,
    /// `pause`: a spinning thread yields.
    Pause,
    /// A plain instruction that loads a variable which is changed atomically elsewhere.
    Load,
    /// The start of a function that loads the word that its first argument points to.
    LoadCall,
    /// A plain instruction that changes such a variable.
    Store,
    /// A fence: `mfence`, or a locked instruction that leaves a word of the stack as it is.
    Fence,
    /// `rdrand` or `rdseed`, in whose place a constant is loaded.
    Random,
    /// `lock cmpxchg` that locks a mutex of Rust's standard library.
    Lock,
    /// The start of a function that locks one, which its first argument points to; or where such an
    /// argument is ready for a call that does.
    LockCall,
    /// `xchg` that unlocks one.
    Unlock,
    /// The start of a function that unlocks one.
    UnlockCall,
    /// The start of a function that waits on a condition variable of Rust's standard library, which
    /// its first argument points to, and unlocks the mutex that its second one points to.
    CondvarWait,
    /// The same for a function with a timeout.
    CondvarWaitTimeout,
    /// The start of a function that wakes one waiter of such a condition variable.
    NotifyOne,
    /// The start of a function that wakes all of them.
    NotifyAll,
    /// `lock cmpxchg` that takes a read-write lock of Rust's standard library for reading.
    ReadLock,
    /// The start of a function that does.
    ReadLockCall,
    /// `lock cmpxchg` that takes one for writing.
    WriteLock,
    /// The start of a function that does.
    WriteLockCall,
    /// `lock xadd` that releases one, whatever it was held for.
    RwUnlock,
    /// The start of a function that does.
    RwUnlockCall,
}

impl SiteKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [SiteKind; 23] = [
        SiteKind::CompareExchange,
        SiteKind::Exchange,
        SiteKind::FetchModify,
        SiteKind::Pause,
        SiteKind::Load,
        SiteKind::LoadCall,
        SiteKind::Store,
        SiteKind::Fence,
        SiteKind::Random,
        SiteKind::Lock,
        SiteKind::LockCall,
        SiteKind::Unlock,
        SiteKind::UnlockCall,
        SiteKind::CondvarWait,
        SiteKind::CondvarWaitTimeout,
        SiteKind::NotifyOne,
        SiteKind::NotifyAll,
        SiteKind::ReadLock,
        SiteKind::ReadLockCall,
        SiteKind::WriteLock,
        SiteKind::WriteLockCall,
        SiteKind::RwUnlock,
        SiteKind::RwUnlockCall,
    ];

    /// Whether a function begins there, which works on what its first argument points to; other sites
    /// work on the operand of their instruction, if it has one.
    pub const fn is_call(self) -> bool {
        match self {
            SiteKind::LoadCall
            | SiteKind::LockCall
            | SiteKind::UnlockCall
            | SiteKind::CondvarWait
            | SiteKind::CondvarWaitTimeout
            | SiteKind::NotifyOne
            | SiteKind::NotifyAll
            | SiteKind::ReadLockCall
            | SiteKind::WriteLockCall
            | SiteKind::RwUnlockCall => true,
            SiteKind::CompareExchange
            | SiteKind::Exchange
            | SiteKind::FetchModify
            | SiteKind::Pause
            | SiteKind::Load
            | SiteKind::Store
            | SiteKind::Fence
            | SiteKind::Random
            | SiteKind::Lock
            | SiteKind::Unlock
            | SiteKind::ReadLock
            | SiteKind::WriteLock
            | SiteKind::RwUnlock => false,
        }
    }
}

impl TryFrom<u8> for SiteKind {
    type Error = UnknownNumber;

    fn try_from(number: u8) -> Result<Self, UnknownNumber> {
        SiteKind::ALL.get(usize::from(number)).copied().ok_or(UnknownNumber(number.into()))
    }
}

/// One entry of the table of patch sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Site {
    /// Where the instruction is in the running program.
    pub address: u64,
    /// What it does.
    pub kind: SiteKind,
    /// How many bytes of memory it works on; 0 for a pause.
    pub size: u8,
    /// Whether it is certain that it is not atomic, so that it takes part in data races.
    pub is_plain: bool,
    /// Whether it is a scheduling point only if it accesses an armed granule.
    pub is_armed: bool,
    /// Whether it is repeated as often as `rcx` says.
    pub is_repeated: bool,
    /// Whether it is a step for each eight bytes of its operand.
    pub is_wide: bool,
    /// Whether somebody said that data races with it are not to be reported.
    pub is_suppressed: bool,
    unused: [u8; 1],
}

impl Site {
    /// How long an entry is.
    pub const LENGTH: usize = size_of::<Site>();

    /// An entry.
    pub const fn new(address: u64, kind: SiteKind, size: u8) -> Self {
        Site {
            address,
            kind,
            size,
            is_plain: false,
            is_armed: false,
            is_repeated: false,
            is_wide: false,
            is_suppressed: false,
            unused: [0; 1],
        }
    }

    /// The entry as it lies in the table.
    pub fn to_bytes(self) -> [u8; Site::LENGTH] {
        let mut bytes = [0; Site::LENGTH];
        bytes[..8].copy_from_slice(&self.address.to_le_bytes());
        bytes[8] = self.kind as u8;
        bytes[9] = self.size;
        bytes[10] = self.is_plain.into();
        bytes[11] = self.is_armed.into();
        bytes[12] = self.is_repeated.into();
        bytes[13] = self.is_wide.into();
        bytes[14] = self.is_suppressed.into();
        bytes
    }

    /// The entry that lies in a table so.
    pub fn from_bytes(bytes: [u8; Site::LENGTH]) -> Result<Self, UnknownNumber> {
        let [a, b, c, d, e, f, g, h, kind, size, flags @ ..] = bytes;
        if let Some(&wild) = flags.iter().find(|&&flag| flag > 1) {
            return Err(UnknownNumber(wild.into()));
        }
        let [is_plain, is_armed, is_repeated, is_wide, is_suppressed, ..] =
            flags.map(|flag| flag == 1);
        let address = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        let site = Site::new(address, SiteKind::try_from(kind)?, size);
        Ok(Site { is_plain, is_armed, is_repeated, is_wide, is_suppressed, ..site })
    }
}

/// The table is read in place, so an entry must lie in memory as [`Site::to_bytes`] writes it.
const _: () = {
    use core::mem::offset_of;
    assert!(size_of::<Site>() == 16 && align_of::<Site>() == 8);
    assert!(offset_of!(Site, address) == 0);
    assert!(offset_of!(Site, kind) == 8 && offset_of!(Site, size) == 9);
    assert!(offset_of!(Site, is_plain) == 10 && offset_of!(Site, is_armed) == 11);
    assert!(offset_of!(Site, is_repeated) == 12 && offset_of!(Site, is_wide) == 13);
};

/// A patch that is a one-byte trap: where no jump to the stub fits, the handler of the trap goes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C)]
pub struct Trap {
    /// Where the `int3` is.
    pub address: u64,
    /// Where the stub starts.
    pub stub: u64,
}

impl Trap {
    /// How long an entry of the table of traps is, which is in the order of addresses.
    pub const LENGTH: usize = size_of::<Trap>();

    /// The entry as it lies in the table.
    pub fn to_bytes(self) -> [u8; Trap::LENGTH] {
        let mut bytes = [0; Trap::LENGTH];
        bytes[..8].copy_from_slice(&self.address.to_le_bytes());
        bytes[8..].copy_from_slice(&self.stub.to_le_bytes());
        bytes
    }
}

const _: () = {
    use core::mem::offset_of;
    assert!(size_of::<Trap>() == 16 && offset_of!(Trap, address) == 0);
};

/// What a stub has pushed when it calls the shim, above the return address.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct StubFrame {
    /// The number of the site, sign-extended by the instruction that pushes it.
    pub site: u64,
    /// The address of the operand, or the first argument of the function.
    pub operand: u64,
    /// The program's `rax`.
    pub rax: u64,
    /// The program's flags, unless nobody looks at them again.
    pub flags: u64,
}

impl StubFrame {
    /// How far the stub moves the stack pointer before it pushes anything: below the red zone of the
    /// function that is patched.
    pub const RED_ZONE: usize = 128;
    /// How far the stack pointer is from that of the program when the operand's address is computed.
    pub const DEPTH_AT_OPERAND: usize =
        StubFrame::RED_ZONE + size_of::<StubFrame>() - core::mem::offset_of!(StubFrame, rax);
    /// From the end of the return address to the stack pointer of the program.
    pub const TO_PROGRAM: usize = size_of::<StubFrame>() + StubFrame::RED_ZONE;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_kinds_match() {
        for (number, &kind) in SiteKind::ALL.iter().enumerate() {
            assert_eq!(kind as usize, number);
            assert_eq!(SiteKind::try_from(number as u8), Ok(kind));
        }
        let next = SiteKind::ALL.len() as u8;
        assert_eq!(SiteKind::try_from(next), Err(UnknownNumber(next.into())));
    }

    #[test]
    fn a_site_is_read_as_it_was_written() {
        let site = Site::new(0x5555_5555_1234, SiteKind::RwUnlockCall, 4);
        let flags = [Site { is_plain: true, ..site }, Site { is_armed: true, ..site }];
        for site in [site, Site { is_repeated: true, ..site }].into_iter().chain(flags) {
            assert_eq!(Site::from_bytes(site.to_bytes()), Ok(site));
        }
        let mut bytes = site.to_bytes();
        bytes[8] = u8::MAX;
        assert_eq!(Site::from_bytes(bytes), Err(UnknownNumber(255)));
    }
}
