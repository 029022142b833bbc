//! Which instructions take and give back the mutexes of Rust's standard library.
//!
//! Such a mutex is a word: 0 is free, 1 is held, 2 is held and awaited. The code for the simple case
//! is inlined wherever a program locks:
//!
//! ```text
//! lock cmpxchg [mutex], reg   ; from 0 to 1        xchg [mutex], reg      ; to 0
//! jne  slow                                        cmp  reg, 2
//! …                                                je   slow
//! slow: …                                          slow: …
//! call Mutex::lock_contended                       call Mutex::wake      ; or the system call
//! ```
//!
//! What is slow is a function of the standard library, by whose name the rest is recognised. Where the
//! instruction itself is not, as in code that was not optimised, it is a site like any other; but
//! whoever does not get the mutex comes to `lock_contended`, and asks for it there.
//!
//! A condition variable of the standard library is a word too: who notifies adds one, and wakes; who
//! waits looks at it before it gives its mutex back, and goes to sleep only if it is still the same.
//! Neither that addition, whose result nobody uses, nor the look, which is a plain `mov`, would be a
//! site by itself; but who comes first decides whether somebody sleeps for ever.

use super::image::Image;
use super::{PlanError, SiteKind};
use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};
use object::elf::R_X86_64_RELATIVE;
use object::read::elf::ElfFile64;
use object::{Object, ObjectSymbol, RelocationFlags, RelocationTarget};
use std::collections::{BTreeMap, BTreeSet};

/// How many instructions may come before the call that tells.
const HORIZON: usize = 16;

/// What a function has to do with mutexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Takes one that is held.
    LockContended,
    /// Wakes one who waits for one that was given back.
    Wake,
    /// Takes one.
    Lock,
    /// Gives one back.
    Unlock,
    /// Waits on a condition variable: first of all, looks at its word.
    CondvarWait,
}

/// The role of the function with a name, as compilers mangle it: with a hash behind it, or without.
fn role(name: &str) -> Option<Role> {
    let (path, method) = name.rsplit_once("5Mutex").or_else(|| name.rsplit_once("7Condvar"))?;
    let method = method.split("17h").next()?;
    let of_mutex = path.contains("5mutex5futex");
    let of_condvar = path.contains("7condvar5futex");
    match method {
        "14lock_contended" if of_mutex => Some(Role::LockContended),
        "4wake" if of_mutex => Some(Role::Wake),
        "4lock" if of_mutex => Some(Role::Lock),
        "6unlock" if of_mutex => Some(Role::Unlock),
        "4wait" | "12wait_timeout" | "21wait_optional_timeout" if of_condvar => {
            Some(Role::CondvarWait)
        }
        _ => None,
    }
}

/// The functions of a module that have to do with mutexes, in addresses of the file.
#[derive(Debug, Default)]
pub(super) struct Locks {
    functions: BTreeMap<u64, Role>,
    /// The words through which functions are called indirectly, and what they do.
    pointers: BTreeMap<u64, Role>,
}

impl Locks {
    /// Finds them.
    pub(super) fn of(elf: &[u8], image: &Image<'_>) -> Result<Self, PlanError> {
        let file = ElfFile64::<object::LittleEndian>::parse(elf)?;
        let mut locks = Locks::default();
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let role = symbol.name().ok().and_then(role);
            if let Some(role) = role.filter(|_| image.is_code(symbol.address())) {
                locks.functions.insert(symbol.address(), role);
            }
        }
        let dynamic_symbols: Vec<_> = file.dynamic_symbols().collect();
        for (address, relocation) in file.dynamic_relocations().into_iter().flatten() {
            let relative = RelocationFlags::Elf { r_type: R_X86_64_RELATIVE };
            let role = match relocation.target() {
                RelocationTarget::Symbol(index) => dynamic_symbols
                    .iter()
                    .find(|symbol| symbol.index() == index)
                    .and_then(|symbol| role(symbol.name().ok()?)),
                _ if relocation.flags() == relative => {
                    locks.functions.get(&relocation.addend().cast_unsigned()).copied()
                }
                _ => None,
            };
            locks.pointers.extend(role.map(|role| (address, role)));
        }
        Ok(locks)
    }

    /// The functions that are sites by themselves.
    pub(super) fn functions(&self) -> impl Iterator<Item = u64> {
        self.functions.iter().filter(|(_, role)| **role != Role::Wake).map(|(&address, _)| address)
    }

    /// What the instruction at an address of the file has to do with mutexes.
    pub(super) fn kind(&self, image: &Image<'_>, address: u64) -> Option<SiteKind> {
        if self.functions.is_empty() && self.pointers.is_empty() {
            return None;
        }
        match self.functions.get(&address) {
            Some(Role::Lock | Role::LockContended) => return Some(SiteKind::LockCall),
            Some(Role::Unlock) => return Some(SiteKind::UnlockCall),
            Some(Role::CondvarWait) => return Some(SiteKind::LoadCall),
            _ => {}
        }
        let mut following = image.decode(address, 0);
        let site = following.next()?;
        let is_word = site.op0_kind() == OpKind::Memory && site.memory_size().size() == 4;
        let (kind, role) = match site.mnemonic() {
            Mnemonic::Cmpxchg if is_word && site.has_lock_prefix() => {
                (SiteKind::Lock, Role::LockContended)
            }
            Mnemonic::Xchg if is_word => (SiteKind::Unlock, Role::Wake),
            _ => return None,
        };
        if kind == SiteKind::Unlock {
            following.find(changes_flags).filter(|next| compares_with_two(&site, next))?;
        }
        let branch = following
            .find(|next| changes_flags(next) || next.flow_control() != FlowControl::Next)?;
        let slow = match (branch.mnemonic(), kind) {
            (Mnemonic::Jne, SiteKind::Lock) | (Mnemonic::Je, SiteKind::Unlock) => {
                branch.near_branch_target()
            }
            (Mnemonic::Je, SiteKind::Lock) | (Mnemonic::Jne, SiteKind::Unlock) => branch.next_ip(),
            _ => return None,
        };
        self.leads_to(image, slow, role).then_some(kind)
    }

    /// Whether a function with a role is called before anything else is decided.
    fn leads_to(&self, image: &Image<'_>, mut from: u64, role: Role) -> bool {
        let mut seen = BTreeSet::new();
        while seen.insert(from) && seen.len() <= HORIZON {
            let mut straight = image.decode(from, 0).take(HORIZON);
            let mut calls_futex = false;
            let next = straight.find(|next| {
                calls_futex |= names_futex(next);
                next.flow_control() != FlowControl::Next
            });
            let Some(next) = next else { return false };
            let target = match next.flow_control() {
                // Within the standard library, waking is inlined: it is this system call.
                FlowControl::Call | FlowControl::IndirectCall if calls_futex => {
                    return role == Role::Wake;
                }
                FlowControl::Call | FlowControl::UnconditionalBranch => next.near_branch_target(),
                FlowControl::IndirectCall | FlowControl::IndirectBranch
                    if next.is_ip_rel_memory_operand() =>
                {
                    return self.pointers.get(&next.ip_rel_memory_address()) == Some(&role);
                }
                _ => return false,
            };
            match self.functions.get(&target) {
                Some(found) => return *found == role,
                None if next.flow_control() == FlowControl::Call => return false,
                None => from = target,
            }
        }
        false
    }
}

fn changes_flags(instruction: &Instruction) -> bool {
    instruction.rflags_modified() != 0
}

/// Whether the number of the system call `futex` is loaded as the first argument of a call.
pub(super) fn names_futex(instruction: &Instruction) -> bool {
    const FUTEX: u64 = 202;
    instruction.mnemonic() == Mnemonic::Mov
        && instruction.op0_kind() == OpKind::Register
        && instruction.op0_register().full_register() == Register::RDI
        && instruction.op1_kind() == OpKind::Immediate32
        && instruction.immediate(1) == FUTEX
}

/// Whether what an exchange found is compared with 2.
fn compares_with_two(exchange: &Instruction, next: &Instruction) -> bool {
    next.mnemonic() == Mnemonic::Cmp
        && match next.op0_kind() {
            OpKind::Register => next.op0_register() == exchange.op1_register(),
            // Code that was not optimised puts it on the stack first.
            kind => kind == OpKind::Memory && next.memory_base() == Register::RSP,
        }
        && [OpKind::Immediate8, OpKind::Immediate8to32].contains(&next.op1_kind())
        && next.immediate(1) == 2
}

#[cfg(test)]
mod tests {
    use super::{Role, role};

    #[test]
    fn functions_are_known_by_their_names_in_either_mangling() {
        let start = "_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync";
        let of = |rest: &str| role(&format!("{start}{rest}"));
        assert_eq!(of("5mutex5futexNtB2_5Mutex14lock_contended"), Some(Role::LockContended));
        assert_eq!(of("5mutex5futexNtB2_5Mutex4wake"), Some(Role::Wake));
        assert_eq!(of("7condvar5futexNtB2_7Condvar4wait"), Some(Role::CondvarWait));
        assert_eq!(of("6rwlock5futexNtB2_6RwLock4wake"), None);
        let legacy = "_ZN3std3sys4sync5mutex5futex5Mutex14lock_contended17h0123456789abcdefE";
        assert_eq!(role(legacy), Some(Role::LockContended));
        assert_eq!(role("_ZN3app5Mutex4lock17h0123456789abcdefE"), None);
    }
}
