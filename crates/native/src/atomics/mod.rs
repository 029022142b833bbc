//! Which instructions of a module become patch sites, and how they are patched.
//!
//! Locks of Rust's standard library, C11 and C++ atomics and `parking_lot` call nothing while
//! they are uncontended: they are a `lock cmpxchg` or an `xchg` in the middle of a function.
//! [`plan`] finds these instructions in an ELF file and says what to write where, so that each
//! first calls the shim.
//!
//! - `image`: the file: functions, code, data, landing pads.
//! - `code`: decodes the functions once; finds candidates and everything a jump may lead to.
//! - `landing_pads`: the landing pads of exceptions.
//! - `statics`: static variables that are modified atomically, and plain accesses to them.
//! - `unoptimised`: those that unoptimised code accesses through the stack.
//! - `futexes`: plain loads of the expected value of a futex wait.
//! - `locks`: lock and unlock of the mutexes and read-write locks of Rust's standard library, and
//!   the functions that wait on its condition variables and notify.
//! - `rwlocks`: the loads that decide whether a read-write lock is tried.
//! - `usage`: whether the result of an atomic instruction is used.
//! - `stub`: trampolines, which run instead of a patched instruction.
//!
//! An atomic load, and a store that is not sequentially consistent, is a `mov` like any other. It
//! is a site if it names a static variable that other instructions of the module change atomically,
//! be it by an address on the stack, if it loads the expected value of a futex wait, if it decides
//! that a read-write lock is not even tried, or whether a function of the standard library is
//! called that initialises something. Other accesses through a pointer cannot be told from plain
//! memory, and are not seen.

mod code;
mod futexes;
mod image;
mod landing_pads;
mod locks;
mod rwlocks;
mod statics;
mod stub;
mod unoptimised;
mod usage;

use code::Code;
use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};
use image::Image;
use locks::Locks;

pub use everypath_shim_abi::{Site, SiteKind};

/// The bytes of a `jmp rel32`.
const JUMP_SIZE: usize = 5;
const INT3: u8 = 0xCC;

/// What to write over the code of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Where in the running program.
    pub address: u64,
    /// The new bytes.
    pub bytes: Vec<u8>,
    /// The stub to continue at after the trap, when the patch is a one-byte `int3`.
    pub trap: Option<u64>,
}

/// How a module is to be patched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The stubs, to be put at [`Layout::trampolines`].
    pub trampolines: Vec<u8>,
    /// One for each site, in the same order; they do not overlap.
    pub patches: Vec<Patch>,
    /// In the order of their addresses. The first has the number [`Layout::first_site`].
    pub sites: Vec<Site>,
}

impl Patch {
    /// Where the stub starts that the patch leads to.
    fn stub(&self) -> Option<u64> {
        let jump = || {
            let distance = self.bytes.get(1..JUMP_SIZE)?.try_into().ok()?;
            let end = self.address.wrapping_add(JUMP_SIZE as u64);
            Some(end.wrapping_add_signed(i64::from(i32::from_le_bytes(distance))))
        };
        self.trap.or_else(jump)
    }
}

impl Plan {
    /// The site whose stub an address is in. An instruction that faults there, because its
    /// operand is no memory for example, faults in the name of the site.
    pub fn site_of_stub(&self, address: u64) -> Option<Site> {
        let first = self.patches.first()?.stub()?;
        let inside = first..first + self.trampolines.len() as u64;
        let next = self.patches.partition_point(|patch| patch.stub() <= Some(address));
        inside.contains(&address).then(|| self.sites.get(next.checked_sub(1)?).copied())?
    }
}

/// Whether atomic updates count as sites when nobody looks at their result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counters {
    /// They do not: they are reference counts and statistics, and many.
    #[default]
    SkipUnused,
    /// They do.
    All,
}

/// Where everything is in the running program.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// What is added to the addresses in the file.
    pub base: u64,
    /// Where the stubs will be: within 2 GB of all of the module.
    pub trampolines: u64,
    /// The routine of the shim that every stub calls, anywhere. It finds the number of the site
    /// and the address of the operand above its return address, and preserves every register
    /// but `rax` and the flags.
    pub entry: u64,
    /// The same for modules that use the lower halves of vector registers only.
    pub entry_lower: u64,
    /// The number of the module's first site.
    pub first_site: u32,
    /// Which atomic updates are sites.
    pub counters: Counters,
}

/// Why a module cannot be patched. The text completes "cannot patch FILE: …".
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Not an ELF file we can read.
    #[error("it is no readable x86-64 ELF file: {0}")]
    Elf(#[from] object::Error),
    /// Code for another machine.
    #[error("it is not for x86-64")]
    Architecture,
    /// The unwind tables, which say where functions are, are damaged.
    #[error("its unwind tables are damaged: {0}")]
    UnwindTables(#[from] gimli::Error),
    /// Something that locks, in code of which nothing says where its functions are.
    #[error(
        "there is a lock cmpxchg at {address:#x}, outside of all functions that unwind tables or \
         symbols tell of; build it with unwind tables, or do not strip it"
    )]
    UnknownFunction {
        /// Where the instruction is, in the file.
        address: u64,
    },
    /// The trampolines are not within the reach of a jump.
    #[error("the trampolines at {trampolines:#x} are too far from the instruction at {address:#x}")]
    TooFar {
        /// Where the stubs should have been.
        trampolines: u64,
        /// The instruction that cannot reach them.
        address: u64,
    },
    /// An instruction that our encoder does not know how to move.
    #[error("the instruction at {address:#x} cannot be moved: {detail}")]
    Immovable {
        /// Where the instruction is.
        address: u64,
        /// What the encoder says.
        detail: String,
    },
}

/// Plans the patches of the module whose ELF file is given.
pub fn plan(elf: &[u8], layout: &Layout) -> Result<Plan, PlanError> {
    let image = Image::parse(elf)?;
    if let Some(address) = code::unknown_lock(&image) {
        return Err(PlanError::UnknownFunction { address });
    }
    let locks = Locks::of(elf, &image)?;
    let code = Code::scan(&image, &locks);
    Planner { image: &image, code: &code, locks: &locks, layout }.plan()
}

/// What the instruction is as a site, if it is one; whether its result is used is not asked.
fn kind(instruction: &Instruction) -> Option<SiteKind> {
    match instruction.mnemonic() {
        Mnemonic::Pause => return Some(SiteKind::Pause),
        Mnemonic::Mfence => return Some(SiteKind::Fence),
        _ => {}
    }
    let thread_local = matches!(instruction.memory_segment(), Register::FS | Register::GS);
    if instruction.op0_kind() != OpKind::Memory || thread_local {
        return None;
    }
    match instruction.mnemonic() {
        Mnemonic::Xchg => Some(SiteKind::Exchange),
        _ if !instruction.has_lock_prefix() => None,
        Mnemonic::Cmpxchg | Mnemonic::Cmpxchg8b | Mnemonic::Cmpxchg16b => {
            Some(SiteKind::CompareExchange)
        }
        Mnemonic::Or | Mnemonic::Add if leaves_the_stack(instruction) => Some(SiteKind::Fence),
        _ => Some(SiteKind::FetchModify),
    }
}

/// What the shim is told of what a site works on, and how many bytes that has.
fn operand(kind: SiteKind, instruction: &Instruction) -> (stub::Operand, u8) {
    if kind.is_call() {
        return (stub::Operand::FirstArgument, size_of::<u32>() as u8);
    }
    if matches!(instruction.mnemonic(), Mnemonic::Pause | Mnemonic::Mfence) {
        return (stub::Operand::None, 0);
    }
    let size = instruction.memory_size().size();
    (stub::Operand::Memory, u8::try_from(size).unwrap_or(0))
}

/// Whether nothing is added to a word of the stack: compilers prefer that to `mfence`.
fn leaves_the_stack(instruction: &Instruction) -> bool {
    let nothing = [OpKind::Immediate8, OpKind::Immediate8to32, OpKind::Immediate8to64];
    instruction.memory_base() == Register::RSP
        && nothing.contains(&instruction.op1_kind())
        && instruction.immediate(1) == 0
}

struct Planner<'a> {
    image: &'a Image<'a>,
    code: &'a Code,
    locks: &'a Locks,
    layout: &'a Layout,
}

impl Planner<'_> {
    fn plan(&self) -> Result<Plan, PlanError> {
        let candidates = self.code.candidates.iter().copied();
        let mut addresses: Vec<u64> = candidates.filter(|&address| self.is_site(address)).collect();
        addresses.extend(self.locks.sites());
        addresses.sort_unstable();
        addresses.dedup();
        addresses.retain(|&address| !self.locks.notify_there(address));
        let mut plan = Plan::default();
        for &address in &addresses {
            self.patch(address, &addresses, &mut plan)?;
        }
        Ok(plan)
    }

    /// Decodes the function from the address on, as if it were at its place in memory.
    fn instructions(&self, address: u64) -> impl Iterator<Item = Instruction> {
        self.image.decode(address, self.layout.base)
    }

    /// What an instruction, at its place in memory, is as a site.
    fn kind(&self, instruction: &Instruction) -> Option<SiteKind> {
        let address = instruction.ip() - self.layout.base;
        let plain = || match self.code.looks.binary_search(&address) {
            Ok(_) => Some(SiteKind::Load),
            Err(_) => self.code.statics.kind(instruction, self.layout.base),
        };
        self.locks.kind(self.image, address).or_else(|| kind(instruction)).or_else(plain)
    }

    fn is_site(&self, address: u64) -> bool {
        let mut instructions = self.instructions(address);
        let Some(instruction) = instructions.next() else { return false };
        match self.kind(&instruction) {
            None => false,
            Some(SiteKind::Pause) => !self.continues_a_pause(address, instruction.len() as u64),
            Some(SiteKind::FetchModify) => {
                // Only counting goes unseen: setting and clearing bits is how flags are stored.
                let counts = matches!(
                    instruction.mnemonic(),
                    Mnemonic::Inc | Mnemonic::Dec | Mnemonic::Add | Mnemonic::Sub | Mnemonic::Xadd
                );
                !counts
                    || self.layout.counters == Counters::All
                    || self.precedes_a_wake(address)
                    || self.code.statics.are_used_plainly(&instruction, self.layout.base)
                    || usage::result_is_used(&instruction, instructions, |at| self.gives_up(at))
            }
            Some(_) => true,
        }
    }

    /// Whether the system call `futex` follows at once: then somebody waits for the change.
    fn precedes_a_wake(&self, address: u64) -> bool {
        let mut straight =
            self.instructions(address).take_while(|next| next.flow_control() == FlowControl::Next);
        straight.any(|next| futexes::names_futex(&next))
    }

    /// Whether the program gives up if it comes to an address in memory.
    fn gives_up(&self, address: u64) -> bool {
        let first = self.instructions(address - self.layout.base).next();
        first.is_some_and(|first| first.mnemonic() == Mnemonic::Ud2)
    }

    /// Whether the pause at the address only prolongs the one before it, as in an unrolled loop:
    /// nobody comes from elsewhere, and nothing has happened since.
    fn continues_a_pause(&self, address: u64, size: u64) -> bool {
        let before = address - size;
        self.code.candidates.binary_search(&before).is_ok()
            && self.instructions(before).next().is_some_and(|before| {
                kind(&before) == Some(SiteKind::Pause) && before.len() as u64 == size
            })
            && !self.code.is_entered(address..address + 1)
    }

    /// Adds the site at the address of the file to the plan.
    fn patch(&self, address: u64, sites: &[u64], plan: &mut Plan) -> Result<(), PlanError> {
        let displaced = self.displaceable(address, sites);
        let moved = match &displaced {
            Some(instructions) => instructions.clone(),
            None => self.instructions(address).take(1).collect(),
        };
        let (Some(instruction), Some(last)) = (moved.first(), moved.last()) else { return Ok(()) };
        let Some(kind) = self.kind(instruction) else { return Ok(()) };
        let (operand, size) = operand(kind, instruction);
        let site = Site::new(instruction.ip(), kind, size);
        let number = self.layout.first_site + plan.sites.len() as u32;
        let stub = self.layout.trampolines + plan.trampolines.len() as u64;
        let end = last.next_ip();
        let entry = match self.code.uses_upper_halves {
            true => self.layout.entry,
            false => self.layout.entry_lower,
        };
        plan.trampolines.extend(stub::write(stub, (&moved, operand), number, entry)?);
        plan.patches.push(match displaced {
            Some(_) => self.jump(site.address, end, stub)?,
            None => Patch { address: site.address, bytes: vec![INT3], trap: Some(stub) },
        });
        plan.sites.push(site);
        Ok(())
    }

    /// The jump from a site to its stub. What is left over of the displaced instructions must
    /// never run, and traps if it does.
    fn jump(&self, from: u64, end: u64, stub: u64) -> Result<Patch, PlanError> {
        let too_far = PlanError::TooFar { trampolines: self.layout.trampolines, address: from };
        let distance = stub::distance(from + JUMP_SIZE as u64, stub).ok_or(too_far)?;
        let mut bytes = vec![0xE9];
        bytes.extend(distance.to_le_bytes());
        bytes.resize((end - from) as usize, INT3);
        Ok(Patch { address: from, bytes, trap: None })
    }

    /// The site and the instructions after it that make room for a jump; `None` where something
    /// may arrive in the middle of them, or where one must stay where it is.
    fn displaceable(&self, address: u64, sites: &[u64]) -> Option<Vec<Instruction>> {
        let mut displaced = Vec::new();
        let mut size = 0;
        for instruction in self.instructions(address) {
            let movable = match instruction.flow_control() {
                FlowControl::Next => true,
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                    instruction.is_jcc_short_or_near() || instruction.is_jmp_short_or_near()
                }
                _ => false,
            };
            let is_other_site = size > 0 && sites.binary_search(&(address + size)).is_ok();
            if !movable || is_other_site {
                return None;
            }
            size += instruction.len() as u64;
            displaced.push(instruction);
            if size >= JUMP_SIZE as u64 {
                let entered = self.code.is_entered(address + 1..address + size);
                return (!entered).then_some(displaced);
            }
            // Nothing falls through to what follows, so something unknown may jump to it.
            if instruction.flow_control() == FlowControl::UnconditionalBranch {
                return None;
            }
        }
        None
    }
}
