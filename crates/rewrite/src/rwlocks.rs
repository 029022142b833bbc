//! Recognising read-write locks of Rust's standard library, by the constants in the code.
//!
//! The word of such a lock counts readers, or has all of those bits set if it is write-locked; the
//! two bits above say that readers and writers wait. Every acquisition loads the word first:
//!
//! ```text
//! mov  reg, [lock]                                 mov  reg, [lock]
//! cmp  reg, 0x3ffffffd   ; one more may read       test reg, 0x3fffffff   ; unlocked
//! ja   slow, or fail                               jne  fail
//! …                                                …
//! lock cmpxchg [lock], other                       lock cmpxchg [lock], other
//! ```

use crate::image::Image;
use crate::locks::HORIZON;
use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind};

const WRITTEN: u32 = (1 << 30) - 1;
/// Of a lock that one more may read.
const FEW_READERS: u32 = WRITTEN - 2;
const READERS_WAIT: u32 = 1 << 30;

/// Whether an instruction has to do with a number that such locks are known by.
pub(crate) fn is_telling(instruction: &Instruction) -> bool {
    has_number(instruction, &[FEW_READERS, WRITTEN])
}

fn has_number(instruction: &Instruction, numbers: &[u32]) -> bool {
    instruction.op1_kind() == OpKind::Immediate32
        && numbers.contains(&instruction.immediate32())
        && matches!(
            instruction.mnemonic(),
            Mnemonic::Cmp | Mnemonic::Test | Mnemonic::And | Mnemonic::Add
        )
}

fn is_straight(instruction: &Instruction) -> bool {
    instruction.flow_control() == FlowControl::Next && !instruction.has_lock_prefix()
}

/// Whether what follows an addition looks at what it found as somebody does who gave such a lock
/// back.
pub(crate) fn follows_unlock(image: &Image<'_>, from: u64) -> bool {
    let left_to_writers = [!READERS_WAIT, WRITTEN.wrapping_neg()];
    let mut straight = image.decode(from, 0).take(HORIZON).take_while(is_straight);
    straight.any(|next| has_number(&next, &left_to_writers))
}

/// Where a function looks whether it can take a lock, and does not try if it cannot. Of an
/// instruction that is known to take a lock, nothing is asked: it waits until it can.
pub(crate) fn looks_before(
    image: &Image<'_>,
    function: u64,
    is_known: impl Fn(u64) -> bool,
) -> Vec<u64> {
    let code: Vec<Instruction> = image.decode(function, 0).collect();
    let decides = |at: &usize| {
        let look = &code[*at];
        let is_look = look.mnemonic() == Mnemonic::Mov
            && look.op0_kind() == OpKind::Register
            && look.op1_kind() == OpKind::Memory
            && look.memory_size().size() == size_of::<u32>();
        let following = &code[at + 1..];
        let straight = following.iter().take(HORIZON).take_while(|next| is_straight(next)).count();
        let branch = following.get(straight).filter(|branch| branch.is_jcc_short_or_near());
        let Some(branch) = branch.filter(|_| is_look) else { return false };
        let takes = |way: u64| {
            let mut following = image.decode(way, 0).take(HORIZON);
            following
                .find(|next| !is_straight(next))
                .is_some_and(|next| takes_same(look, &next) && !is_known(next.ip()))
        };
        following[..straight].iter().any(is_telling)
            && [branch.next_ip(), branch.near_branch_target()].into_iter().any(takes)
    };
    (0..code.len()).filter(decides).map(|at| code[at].ip()).collect()
}

/// Whether an instruction compares and exchanges what another one looked at.
fn takes_same(look: &Instruction, other: &Instruction) -> bool {
    let place = |it: &Instruction| {
        (it.memory_base(), it.memory_index(), it.memory_index_scale(), it.memory_displacement64())
    };
    other.mnemonic() == Mnemonic::Cmpxchg && other.has_lock_prefix() && place(look) == place(other)
}
