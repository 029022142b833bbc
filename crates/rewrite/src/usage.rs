//! Whether the result of an atomic instruction is used.

use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, Register, UsedRegister,
};

/// How many instructions are looked at.
const HORIZON: usize = 64;

/// Whether the flags the instruction sets, or the register it writes, are read by what follows.
/// Looks no further than the end of the basic block: what is not known is used. A branch to where
/// `gives_up` says that the program gives up ends no block, and what it looks at is not used: so
/// reference counts are kept from overflowing.
pub(crate) fn result_is_used(
    instruction: &Instruction,
    following: impl Iterator<Item = Instruction>,
    gives_up: impl Fn(u64) -> bool,
) -> bool {
    let mut flags = instruction.rflags_modified();
    let mut register = match instruction.mnemonic() {
        Mnemonic::Xadd => Some(instruction.op1_register().full_register()),
        _ => None,
    };
    let mut factory = InstructionInfoFactory::new();
    let mut guards = false;
    for next in following.take(HORIZON) {
        if flags == 0 && register.is_none() {
            return false;
        }
        if next.is_jcc_short_or_near() && gives_up(next.near_branch_target()) {
            guards = true;
            continue;
        }
        let used = factory.info(&next).used_registers();
        if next.rflags_read() & flags != 0 || used.iter().any(|used| reads(used, register)) {
            return true;
        }
        match next.flow_control() {
            FlowControl::Next => {}
            // No calling convention passes flags.
            FlowControl::Return => return register.is_some(),
            _ if next.is_call_near() || next.is_call_near_indirect() => return register.is_some(),
            // Who has looked whether to give up does not look again after another branch.
            _ if guards => return register.is_some(),
            _ => return true,
        }
        flags &= !next.rflags_modified();
        if used.iter().any(|used| overwrites(used, register)) {
            register = None;
        }
    }
    flags != 0 || register.is_some()
}

fn reads(used: &UsedRegister, register: Option<Register>) -> bool {
    register == Some(used.register().full_register())
        && !matches!(used.access(), OpAccess::Write | OpAccess::NoMemAccess | OpAccess::None)
}

/// Writing eight or sixteen bits leaves the rest of a register as it was.
fn overwrites(used: &UsedRegister, register: Option<Register>) -> bool {
    register == Some(used.register().full_register())
        && used.access() == OpAccess::Write
        && used.register().size() >= 4
}

#[cfg(test)]
mod tests {
    use super::result_is_used;
    use iced_x86::code_asm::{
        CodeAssembler, al, dword_ptr, eax, ecx, edx, qword_ptr, rax, rdi, rdx,
    };
    use iced_x86::{Decoder, DecoderOptions, IcedError};

    /// Whether the result of the first instruction is used.
    fn check(write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>, expected: bool) {
        let mut assembler = CodeAssembler::new(64).expect("64 bits are supported");
        write(&mut assembler).expect("the instructions exist");
        let code = assembler.assemble(0x1000).expect("the code can be encoded");
        let mut instructions =
            Decoder::with_ip(64, &code, 0x1000, DecoderOptions::NONE).into_iter();
        let first = instructions.next().expect("there is an instruction");
        // The program gives up where it traps.
        let end = code.len() as u64 + 0x1000;
        let traps = code.ends_with(&[0x0f, 0x0b]);
        let gives_up = |target| traps && target == end - 2;
        assert_eq!(result_is_used(&first, instructions, gives_up), expected);
    }

    #[test]
    fn a_guard_against_overflow_uses_nothing() {
        let count = |branches_again: bool| {
            move |code: &mut CodeAssembler| {
                let (mut trap, mut end) = (code.create_label(), code.create_label());
                code.lock().inc(qword_ptr(rdi))?;
                code.jle(trap)?;
                if branches_again {
                    code.je(end)?;
                }
                code.mov(eax, ecx)?;
                code.set_label(&mut end)?;
                code.ret()?;
                code.set_label(&mut trap)?;
                code.ud2()
            }
        };
        check(count(false), false);
        check(count(true), true);
    }

    #[test]
    fn dropping_a_reference_looks_at_the_flags() {
        check(
            |code| {
                let mut end = code.create_label();
                code.lock().dec(qword_ptr(rdi))?;
                code.je(end)?;
                code.set_label(&mut end)?;
                code.ret()
            },
            true,
        );
    }

    #[test]
    fn flags_die_when_overwritten_and_at_calls_and_returns() {
        check(
            |code| {
                code.lock().inc(qword_ptr(rdi))?;
                code.add(ecx, 1)?;
                code.sete(al)
            },
            false,
        );
        check(
            |code| {
                code.lock().inc(qword_ptr(rdi))?;
                code.mov(eax, ecx)?;
                code.ret()
            },
            false,
        );
        check(
            |code| {
                code.lock().inc(qword_ptr(rdi))?;
                code.call(rax)
            },
            false,
        );
    }

    #[test]
    fn a_carry_outlives_an_increment() {
        check(
            |code| {
                code.lock().add(dword_ptr(rdi), 1)?;
                code.inc(ecx)?;
                code.setb(al)
            },
            true,
        );
    }

    #[test]
    fn an_added_value_is_used_unless_overwritten() {
        check(
            |code| {
                code.lock().xadd(dword_ptr(rdi), eax)?;
                code.ret()
            },
            true,
        );
        check(
            |code| {
                code.lock().xadd(dword_ptr(rdi), edx)?;
                code.mov(eax, dword_ptr(rdi + rdx))?;
                code.ret()
            },
            true,
        );
        check(
            |code| {
                code.lock().xadd(dword_ptr(rdi), eax)?;
                code.xor(eax, eax)?;
                code.ret()
            },
            false,
        );
        check(
            |code| {
                code.lock().xadd(dword_ptr(rdi), eax)?;
                code.mov(al, 1)?;
                code.test(ecx, ecx)?;
                code.ret()
            },
            true,
        );
    }

    #[test]
    fn what_is_not_known_is_used() {
        check(
            |code| {
                let mut end = code.create_label();
                code.lock().inc(qword_ptr(rdi))?;
                code.jmp(end)?;
                code.set_label(&mut end)?;
                code.ret()
            },
            true,
        );
        check(|code| code.lock().inc(qword_ptr(rdi)), true);
    }
}
