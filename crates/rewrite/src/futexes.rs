//! Plain loads of the expected value of a futex wait, which become scheduling points.
//!
//! A futex wait passes the expected value of the word: if the word has changed, it does not block.
//! The expected value was loaded by an ordinary `mov`, and whether a store comes before or after
//! that load decides whether a wakeup is lost. So from each futex syscall that waits, data flow is
//! followed back to the loads of its expected value, through registers and the stack of the
//! function.

use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};
use std::collections::BTreeSet;

const FUTEX: u64 = 202;
/// What the system call is to do, without its flags.
const COMMAND: u64 = 127;
const WAIT: u64 = 0;
const WAIT_BITSET: u64 = 9;

/// How a system call is made: where its number, what it is to do and what it expects are found.
struct Convention {
    number: Register,
    command: Register,
    expected: Register,
}

/// By calling `syscall` of libc, which all of Rust does.
const CALL: Convention =
    Convention { number: Register::RDI, command: Register::RDX, expected: Register::RCX };
/// By the instruction.
const TRAP: Convention =
    Convention { number: Register::RAX, command: Register::RSI, expected: Register::RDX };

/// Where a value is kept while a function runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Register(Register),
    /// In its frame: from which register, and how far from where that points.
    Frame(Register, u64),
}

/// Whether the number of the system call `futex` is loaded as the first argument of a call.
pub(crate) fn names_futex(instruction: &Instruction) -> bool {
    constant(instruction, CALL.number) == Some(FUTEX)
}

/// Whether the number of the system call `futex` is loaded for any way of making it.
pub(crate) fn is_number(instruction: &Instruction) -> bool {
    names_futex(instruction) || constant(instruction, TRAP.number) == Some(FUTEX)
}

/// Where a function loads what a wait at a futex expects.
pub(crate) fn looks(function: impl Iterator<Item = Instruction>) -> Vec<u64> {
    let code: Vec<Instruction> = function.collect();
    let mut looks = Vec::new();
    let mut places = BTreeSet::new();
    for (at, call) in code.iter().enumerate() {
        let before = || {
            let straight = code[..at].iter().rev();
            straight.take_while(|before| before.flow_control() == FlowControl::Next)
        };
        let Some(convention) = convention(call) else { continue };
        let last = |register| before().find(|before| writes(before, register));
        let number = last(convention.number).and_then(|last| constant(last, convention.number));
        let command = last(convention.command).and_then(|last| constant(last, convention.command));
        let waits =
            command.is_none_or(|command| [WAIT, WAIT_BITSET].contains(&(command & COMMAND)));
        if number == Some(FUTEX) && waits {
            match last(convention.expected) {
                Some(last) => come_from(last, &mut looks, &mut places),
                None => _ = places.insert(Place::Register(convention.expected)),
            }
        }
    }
    follow(&code, looks, places)
}

/// Goes back from places to whatever may have been put there, until nothing new is found.
fn follow(code: &[Instruction], mut looks: Vec<u64>, mut places: BTreeSet<Place>) -> Vec<u64> {
    let mut known = 0;
    while known < places.len() {
        known = places.len();
        for instruction in code {
            if place(instruction, 0).is_some_and(|place| places.contains(&place)) {
                come_from(instruction, &mut looks, &mut places);
            }
        }
    }
    looks.sort_unstable();
    looks.dedup();
    looks
}

/// Notes where an instruction has from what it moves: from memory that others see, or from a place.
fn come_from(instruction: &Instruction, looks: &mut Vec<u64>, places: &mut BTreeSet<Place>) {
    if instruction.mnemonic() != Mnemonic::Mov {
        return;
    }
    match place(instruction, 1) {
        Some(place) => _ = places.insert(place),
        None if instruction.op1_kind() == OpKind::Memory => looks.push(instruction.ip()),
        None => {}
    }
}

/// The register or the place in the frame that an operand of a `mov` is.
fn place(instruction: &Instruction, operand: u32) -> Option<Place> {
    let of_frame = [Register::RSP, Register::RBP].contains(&instruction.memory_base())
        && instruction.memory_index() == Register::None;
    match instruction.op_kind(operand) {
        _ if instruction.mnemonic() != Mnemonic::Mov => None,
        OpKind::Register => Some(Place::Register(instruction.op_register(operand).full_register())),
        OpKind::Memory if of_frame => {
            Some(Place::Frame(instruction.memory_base(), instruction.memory_displacement64()))
        }
        _ => None,
    }
}

/// How an instruction makes a system call, if it may be one.
fn convention(instruction: &Instruction) -> Option<Convention> {
    match instruction.flow_control() {
        _ if instruction.mnemonic() == Mnemonic::Syscall => Some(TRAP),
        FlowControl::Call | FlowControl::IndirectCall | FlowControl::IndirectBranch => Some(CALL),
        FlowControl::UnconditionalBranch => Some(CALL),
        _ => None,
    }
}

/// The number that an instruction puts into a register, if that is what it does.
fn constant(instruction: &Instruction, register: Register) -> Option<u64> {
    if instruction.op0_kind() != OpKind::Register
        || instruction.op0_register().full_register() != register
    {
        return None;
    }
    match (instruction.mnemonic(), instruction.op1_kind()) {
        (Mnemonic::Xor, OpKind::Register)
            if instruction.op0_register() == instruction.op1_register() =>
        {
            Some(0)
        }
        (Mnemonic::Mov, OpKind::Immediate32 | OpKind::Immediate32to64 | OpKind::Immediate64) => {
            Some(instruction.immediate(1))
        }
        _ => None,
    }
}

fn writes(instruction: &Instruction, register: Register) -> bool {
    let mut factory = InstructionInfoFactory::new();
    let used = factory.info(instruction).used_registers();
    let writes = |access| matches!(access, OpAccess::Write | OpAccess::ReadWrite);
    used.iter().any(|used| used.register().full_register() == register && writes(used.access()))
}

#[cfg(test)]
mod tests {
    use super::looks;
    use iced_x86::code_asm::{
        CodeAssembler, dword_ptr, eax, ecx, edi, edx, esi, r13, r14, r15d, rbx, rcx, rdi, rsi, rsp,
    };
    use iced_x86::{Decoder, DecoderOptions, IcedError};

    const START: u64 = 0x1000;
    const FUTEX: u32 = 202;
    const WAIT: u32 = 0x89;
    const WAKE: u32 = 0x81;

    /// The addresses that are found in a function.
    fn found(write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<u64> {
        let mut assembler = CodeAssembler::new(64).expect("64 bits are supported");
        write(&mut assembler).expect("the instructions exist");
        let code = assembler.assemble(START).expect("the code can be encoded");
        looks(Decoder::with_ip(64, &code, START, DecoderOptions::NONE).into_iter())
    }

    #[test]
    fn a_look_is_found_through_registers_and_the_frame() {
        let through_register = found(|code| {
            code.mov(r15d, dword_ptr(rdi))?;
            code.mov(eax, dword_ptr(rsi))?;
            code.mov(edi, FUTEX)?;
            code.mov(edx, WAIT)?;
            code.mov(ecx, r15d)?;
            code.call(r13)
        });
        assert_eq!(through_register, [START], "the other load is of no interest");
        let through_frame = found(|code| {
            code.mov(eax, dword_ptr(rdi))?;
            code.mov(dword_ptr(rsp + 8), eax)?;
            code.call(rbx)?;
            code.mov(ecx, dword_ptr(rsp + 8))?;
            code.mov(edx, WAIT)?;
            code.mov(edi, FUTEX)?;
            code.call(r13)
        });
        assert_eq!(through_frame, [START]);
        let by_instruction = found(|code| {
            code.mov(edx, dword_ptr(rdi))?;
            code.xor(esi, esi)?;
            code.mov(eax, FUTEX)?;
            code.syscall()
        });
        assert_eq!(by_instruction, [START]);
    }

    #[test]
    fn who_wakes_or_expects_a_constant_has_not_looked() {
        let wakes = found(|code| {
            code.mov(ecx, dword_ptr(r14))?;
            code.mov(edi, FUTEX)?;
            code.mov(edx, WAKE)?;
            code.call(r13)
        });
        assert!(wakes.is_empty());
        let expects_two = found(|code| {
            code.mov(eax, dword_ptr(rcx))?;
            code.mov(edi, FUTEX)?;
            code.mov(edx, WAIT)?;
            code.mov(ecx, 2)?;
            code.call(r13)
        });
        assert!(expects_two.is_empty());
    }
}
