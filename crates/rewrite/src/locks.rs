//! Recognising the inlined lock and unlock instructions of Rust's standard library.
//!
//! Such a mutex is a word: 0 is unlocked, 1 locked, 2 locked with waiters. The uncontended path is
//! inlined wherever a program locks:
//!
//! ```text
//! lock cmpxchg [mutex], reg   ; from 0 to 1        xchg [mutex], reg      ; to 0
//! jne  slow                                        cmp  reg, 2
//! …                                                je   slow
//! slow: …                                          slow: …
//! call Mutex::lock_contended                       call Mutex::wake      ; or the system call
//! ```
//!
//! The contended path is a function of the standard library, by whose name the rest is recognised.
//! In unoptimised code the instruction is in a function of its own, `atomic_compare_exchange`; then
//! the site is before the call. Where nothing is recognised, the instruction is a site like any
//! other; a thread that fails to acquire the mutex comes to `lock_contended`, and requests it
//! there.
//!
//! A read-write lock is a word too: the number of readers, or all of those bits if it is
//! write-locked, and two bits for waiting readers and writers. It is acquired by `lock cmpxchg` and
//! released by `lock xadd`, and the contended path is `read_contended`, `write_contended` and
//! `wake_writer_or_readers`.
//!
//! A condition variable of the standard library is a word as well: a notification increments it and
//! wakes; a wait loads it before it releases the mutex, and blocks only if it is still the same.
//! The functions that do so are sites at their entry, if their code is as expected; everything
//! inside belongs to the same step.

use crate::futexes::names_futex;
use crate::image::Image;
use crate::rwlocks;
use crate::stub::JUMP_SIZE;
use crate::{PlanError, SiteKind};
use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};
use object::elf::R_X86_64_RELATIVE;
use object::read::elf::ElfFile64;
use object::{Object, ObjectSymbol, RelocationFlags, RelocationTarget};
use std::collections::{BTreeMap, BTreeSet};

/// How many instructions may come before the one that tells.
pub(crate) const HORIZON: usize = 16;

/// What a function has to do with mutexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Takes one that is held.
    LockContended,
    /// Wakes a waiter of an unlocked mutex.
    Wake,
    /// Takes one.
    Lock,
    /// Gives one back.
    Unlock,
    /// Waits on a condition variable, the first argument, and gives a mutex back, the second.
    Wait,
    /// The same for some time.
    WaitTimeout,
    /// Wakes one waiter of a condition variable.
    NotifyOne,
    /// Wakes all.
    NotifyAll,
    /// Takes a read-write lock to read, the slow way.
    ReadContended,
    /// Takes one to write, the slow way.
    WriteContended,
    /// Wakes waiters of an unlocked read-write lock.
    WakeReadersOrWriter,
    /// Takes one to read.
    Read,
    /// Takes one to write.
    Write,
    /// Gives one back.
    RwUnlock,
    /// Looks at a word, and may change it then, in code that was not optimised.
    Look,
    /// Initialises something, unless another thread does.
    Initialise,
}

impl Role {
    /// What the start of such a function is as a site.
    fn kind(self) -> Option<SiteKind> {
        match self {
            Role::Lock | Role::LockContended => Some(SiteKind::LockCall),
            Role::Unlock => Some(SiteKind::UnlockCall),
            Role::Wait => Some(SiteKind::CondvarWait),
            Role::WaitTimeout => Some(SiteKind::CondvarWaitTimeout),
            Role::NotifyOne => Some(SiteKind::NotifyOne),
            Role::NotifyAll => Some(SiteKind::NotifyAll),
            Role::Read | Role::ReadContended => Some(SiteKind::ReadLockCall),
            Role::Write | Role::WriteContended => Some(SiteKind::WriteLockCall),
            Role::RwUnlock => Some(SiteKind::RwUnlockCall),
            Role::Look => Some(SiteKind::LoadCall),
            Role::Wake | Role::WakeReadersOrWriter | Role::Initialise => None,
        }
    }
}

/// The role of the function with a name, as compilers mangle it: with a hash behind it, or without.
fn role(name: &str) -> Option<Role> {
    let ends_with = |method: &str| name.split("17h").next().is_some_and(|it| it.ends_with(method));
    match name {
        _ if name.contains("6atomic") && name.contains("9AtomicU32") => {
            let looks = ends_with("10try_update") || ends_with("12fetch_update");
            return looks.then_some(Role::Look);
        }
        _ if !name.contains("3std") => return None,
        _ if name.contains("9once_lock") && name.contains("OnceLock") => {
            return name.contains("10initialize").then_some(Role::Initialise);
        }
        _ if name.contains("4once5futex") && ends_with("4Once4call") => {
            return Some(Role::Initialise);
        }
        _ => {}
    }
    let types = ["5Mutex", "7Condvar", "6RwLock"];
    let (path, method) = types.iter().find_map(|of| name.rsplit_once(of))?;
    let method = method.split("17h").next()?;
    let of_mutex = path.contains("5mutex5futex");
    let of_condvar = path.contains("3std") && path.contains("7condvar");
    let waits = path.contains("7condvar5futex");
    let of_rwlock = path.contains("6rwlock5futex");
    match method {
        "14lock_contended" if of_mutex => Some(Role::LockContended),
        "4wake" if of_mutex => Some(Role::Wake),
        "4lock" if of_mutex => Some(Role::Lock),
        "6unlock" if of_mutex => Some(Role::Unlock),
        "4wait" if waits => Some(Role::Wait),
        "12wait_timeout" | "21wait_optional_timeout" if waits => Some(Role::WaitTimeout),
        "10notify_one" if of_condvar => Some(Role::NotifyOne),
        "10notify_all" if of_condvar => Some(Role::NotifyAll),
        "14read_contended" if of_rwlock => Some(Role::ReadContended),
        "15write_contended" if of_rwlock => Some(Role::WriteContended),
        "22wake_writer_or_readers" if of_rwlock => Some(Role::WakeReadersOrWriter),
        "4read" if of_rwlock => Some(Role::Read),
        "5write" if of_rwlock => Some(Role::Write),
        "11read_unlock" | "12write_unlock" if of_rwlock => Some(Role::RwUnlock),
        _ => None,
    }
}

/// Whether a function is one by which the standard library waits for what it keeps in order itself:
/// what these find in their words is nothing that the order of a program's steps depends on. Nor is
/// who makes standard output ready to be written to.
fn keeps_order(name: &str) -> bool {
    const PARTS: [&str; 4] = ["6rwlock5futex", "4once5futex", "5mutex5futex", "3std2io"];
    name.contains("3std") && PARTS.iter().any(|part| name.contains(part))
}

/// Whether a function compares and exchanges, in code that was not optimised.
fn is_exchange(name: &str) -> bool {
    ["6atomic23atomic_compare_exchange", "6atomic28atomic_compare_exchange_weak"]
        .iter()
        .any(|part| name.contains(part))
}

/// Whether an instruction changes memory atomically.
fn is_atomic(instruction: &Instruction) -> bool {
    instruction.has_lock_prefix()
        || instruction.mnemonic() == Mnemonic::Xchg && instruction.op0_kind() == OpKind::Memory
}

/// The functions of a module that have to do with mutexes, in addresses of the file.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    functions: BTreeMap<u64, Role>,
    /// Functions in which a look before a wait at a futex is no site.
    orderly: BTreeSet<u64>,
    /// Instructions by which functions notify: they belong to the step that the function is, and as
    /// sites they would often keep a jump from being written at its start.
    notifying: BTreeSet<u64>,
    /// The words through which functions are called indirectly, and what they do.
    pointers: BTreeMap<u64, Role>,
    /// Instructions shortly before a call that takes a lock, which the first argument points to.
    before_calls: BTreeMap<u64, SiteKind>,
}

impl Locks {
    /// Finds them.
    pub(crate) fn of(elf: &[u8], image: &Image<'_>) -> Result<Self, PlanError> {
        let file = ElfFile64::<object::LittleEndian>::parse(elf)?;
        let mut locks = Locks::default();
        let mut exchanges = BTreeSet::new();
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let role = symbol.name().ok().and_then(role);
            if symbol.name().is_ok_and(keeps_order) {
                locks.orderly.insert(symbol.address());
            }
            if symbol.name().is_ok_and(is_exchange) {
                exchanges.insert(symbol.address());
            }
            if let Some(role) = role.filter(|role| is_as_expected(image, symbol.address(), *role)) {
                locks.functions.insert(symbol.address(), role);
                if matches!(role, Role::NotifyOne | Role::NotifyAll) {
                    locks.notifying.extend(notifies_first(image, symbol.address()));
                }
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
        if !exchanges.is_empty() {
            let functions = image.functions.iter();
            locks.before_calls = functions
                .flat_map(|function| locks.calls_in(image, function.start, &exchanges))
                .collect();
        }
        Ok(locks)
    }

    /// The sites before calls of a function that take a lock by calling one of `exchanges`.
    fn calls_in(
        &self,
        image: &Image<'_>,
        function: u64,
        exchanges: &BTreeSet<u64>,
    ) -> Vec<(u64, SiteKind)> {
        let code: Vec<Instruction> = image.decode(function, 0).collect();
        let site = |(at, call): (usize, &Instruction)| {
            let exchanges = call.flow_control() == FlowControl::Call
                && exchanges.contains(&call.near_branch_target());
            let kind = exchanges.then(|| self.taken_after(image, call.next_ip()))??;
            Some((last_with_argument(&code[..at])?, kind))
        };
        code.iter().enumerate().filter_map(site).collect()
    }

    /// What the start of the function is as a site by which a lock is waited for, if the first
    /// branch of what follows leads there.
    fn taken_after(&self, image: &Image<'_>, from: u64) -> Option<SiteKind> {
        let mut following = image.decode(from, 0).take(HORIZON);
        let branch = following.find(|next| next.flow_control() != FlowControl::Next);
        let branch = branch.filter(Instruction::is_jcc_short_or_near)?;
        [Role::LockContended, Role::ReadContended, Role::WriteContended]
            .into_iter()
            .find(|&role| {
                [branch.near_branch_target(), branch.next_ip()]
                    .into_iter()
                    .any(|way| self.leads_to(image, way, role))
            })
            .and_then(Role::kind)
    }

    /// The sites that are no atomic instructions.
    pub(crate) fn sites(&self) -> impl Iterator<Item = u64> {
        let starts = self.functions.iter().filter(|(_, role)| role.kind().is_some());
        starts.map(|(&address, _)| address).chain(self.before_calls.keys().copied())
    }

    /// Whether the instruction at an address of the file is how a function notifies.
    pub(crate) fn notify_there(&self, address: u64) -> bool {
        self.notifying.contains(&address)
    }

    /// Whether an instruction calls a function that initialises something.
    pub(crate) fn initialises(&self, instruction: &Instruction) -> bool {
        self.calls(instruction) == Some(Role::Initialise)
    }

    /// Where a function looks whether something is initialised, and otherwise sees to it: the word
    /// is 0 then.
    ///
    /// ```text
    /// mov  reg, [once]        or        cmp  [once], 0
    /// test reg, reg                     jne  slow
    /// jne  slow
    /// ```
    pub(crate) fn looks_before(&self, image: &Image<'_>, function: u64) -> Vec<u64> {
        let code: Vec<Instruction> = image.decode(function, 0).collect();
        let decides = |at: usize| {
            let look = &code[at];
            let is_word = look.op_kinds().any(|kind| kind == OpKind::Memory)
                && look.memory_size().size() == size_of::<u32>();
            let mut following = code[at + 1..].iter().take(HORIZON);
            let compares = match look.mnemonic() {
                Mnemonic::Cmp => look.op0_kind() == OpKind::Memory,
                Mnemonic::Mov if look.op0_kind() == OpKind::Register => {
                    following.find(|next| changes_flags(next)).is_some_and(|next| {
                        next.mnemonic() == Mnemonic::Test
                            && next.op0_register() == look.op0_register()
                    })
                }
                _ => false,
            };
            if !is_word || !compares {
                return false;
            }
            let branch = following.find(|next| next.flow_control() != FlowControl::Next);
            let slow = branch.and_then(|branch| match branch.mnemonic() {
                Mnemonic::Jne => Some(branch.near_branch_target()),
                Mnemonic::Je => Some(branch.next_ip()),
                _ => None,
            });
            slow.is_some_and(|slow| self.leads_to(image, slow, Role::Initialise))
        };
        (0..code.len()).filter(|&at| decides(at)).map(|at| code[at].ip()).collect()
    }

    /// Whether a look before a wait at a futex is of no interest in the function at an address.
    pub(crate) fn keep_order(&self, function: u64) -> bool {
        self.orderly.contains(&function)
    }

    /// What the instruction at an address of the file has to do with mutexes.
    pub(crate) fn kind(&self, image: &Image<'_>, address: u64) -> Option<SiteKind> {
        if self.functions.is_empty() && self.pointers.is_empty() {
            return None;
        }
        if let Some(&kind) = self.before_calls.get(&address) {
            return Some(kind);
        }
        if let Some(kind) = self.functions.get(&address).and_then(|role| role.kind()) {
            return Some(kind);
        }
        let mut following = image.decode(address, 0);
        let site = following.next()?;
        let is_word = site.op0_kind() == OpKind::Memory && site.memory_size().size() == 4;
        let straight = |next: &Instruction| next.flow_control() == FlowControl::Next;
        let [if_equal, if_not] = match site.mnemonic() {
            Mnemonic::Cmpxchg if is_word && site.has_lock_prefix() => {
                ways(following.find(|next| changes_flags(next) || !straight(next))?)?
            }
            Mnemonic::Xchg if is_word => {
                following.find(changes_flags).filter(|next| compares_with_two(&site, next))?;
                ways(following.find(|next| changes_flags(next) || !straight(next))?)?
            }
            Mnemonic::Xadd if is_word && site.has_lock_prefix() => {
                let gives_back = self.knows_rwlocks()
                    && (rwlocks::follows_unlock(image, site.next_ip())
                        || self.may_wake(image, site.next_ip()));
                return gives_back.then_some(SiteKind::RwUnlock);
            }
            _ => return None,
        };
        match site.mnemonic() {
            Mnemonic::Xchg => {
                self.leads_to(image, if_equal, Role::Wake).then_some(SiteKind::Unlock)
            }
            _ => [
                (Role::LockContended, SiteKind::Lock),
                (Role::ReadContended, SiteKind::ReadLock),
                (Role::WriteContended, SiteKind::WriteLock),
            ]
            .into_iter()
            .find_map(|(slow, kind)| self.leads_to(image, if_not, slow).then_some(kind)),
        }
    }

    /// Whether the functions that lock and unlock read-write locks are known.
    fn knows_rwlocks(&self) -> bool {
        let mut roles = self.functions.values().chain(self.pointers.values());
        roles.any(|&role| role == Role::ReadContended || role == Role::WriteContended)
    }

    /// Whether those who wait for a read-write lock may be woken before anything else is called, or
    /// changed atomically: it depends on what was found.
    fn may_wake(&self, image: &Image<'_>, from: u64) -> bool {
        let mut blocks = vec![from];
        let mut seen = 0;
        while let Some(&block) = blocks.get(seen).filter(|_| seen < HORIZON) {
            seen += 1;
            let mut code = image.decode(block, 0).take(HORIZON);
            let end = code.find(|next| next.flow_control() != FlowControl::Next || is_atomic(next));
            let Some(end) = end.filter(|end| !is_atomic(end)) else { continue };
            if self.calls(&end) == Some(Role::WakeReadersOrWriter) {
                return true;
            }
            let targets = match end.flow_control() {
                FlowControl::ConditionalBranch => vec![end.next_ip(), end.near_branch_target()],
                FlowControl::UnconditionalBranch => vec![end.near_branch_target()],
                _ => continue,
            };
            blocks.extend(
                targets.into_iter().filter(|way| !blocks.contains(way)).collect::<Vec<_>>(),
            );
        }
        false
    }

    /// The role of the function that an instruction calls or jumps to.
    fn calls(&self, instruction: &Instruction) -> Option<Role> {
        match instruction.flow_control() {
            FlowControl::Call | FlowControl::UnconditionalBranch => {
                self.functions.get(&instruction.near_branch_target()).copied()
            }
            FlowControl::IndirectCall | FlowControl::IndirectBranch
                if instruction.is_ip_rel_memory_operand() =>
            {
                self.pointers.get(&instruction.ip_rel_memory_address()).copied()
            }
            _ => None,
        }
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

/// The last instruction before a call from which on the first argument is where it shall be, with
/// room for a jump if possible.
fn last_with_argument(before: &[Instruction]) -> Option<u64> {
    let with_argument = before.iter().rev().take_while(|before| {
        before.flow_control() == FlowControl::Next && !sets(before, Register::RDI)
    });
    let mut room = 0;
    let mut last = None;
    for instruction in with_argument {
        last = Some(instruction.ip());
        room += instruction.len();
        if room >= JUMP_SIZE {
            break;
        }
    }
    last
}

/// Where a branch leads if what was compared is equal, and if not.
fn ways(branch: Instruction) -> Option<[u64; 2]> {
    let [taken, not_taken] = [branch.near_branch_target(), branch.next_ip()];
    match branch.mnemonic() {
        Mnemonic::Je => Some([taken, not_taken]),
        Mnemonic::Jne => Some([not_taken, taken]),
        _ => None,
    }
}

/// Whether a function does what its name says, with its arguments where they are expected.
fn is_as_expected(image: &Image<'_>, address: u64, role: Role) -> bool {
    match role {
        Role::Wait | Role::WaitTimeout => waits_on_first(image, address),
        Role::NotifyOne | Role::NotifyAll => notifies_first(image, address).is_some(),
        Role::ReadContended | Role::WriteContended => looks_at_first(image, address),
        _ => image.is_code(address),
    }
}

/// Whether a function looks at the word that its first argument points to, and then exchanges the
/// one that its second argument points to; or is another name of such a function.
fn waits_on_first(image: &Image<'_>, address: u64) -> bool {
    let mut code = image.decode(address, 0).take(2 * HORIZON).peekable();
    let jump = code.peek().filter(|first| first.mnemonic() == Mnemonic::Jmp).copied();
    if let Some(jump) = jump {
        let target = jump.near_branch_target();
        return target != address && waits_on_first(image, target);
    }
    let mut straight = code.take_while(|next| next.flow_control() == FlowControl::Next);
    let mut until = |mnemonic, base| {
        let found = straight.find(|next| {
            next.mnemonic() == mnemonic && points_to_word(next, base) || sets(next, base)
        });
        found.is_some_and(|found| !sets(&found, base))
    };
    until(Mnemonic::Mov, Register::RDI) && until(Mnemonic::Xchg, Register::RSI)
}

/// Whether the first that a function looks at is the word that its first argument points to.
fn looks_at_first(image: &Image<'_>, address: u64) -> bool {
    let code = image.decode(address, 0).take(HORIZON);
    let mut straight = code.take_while(|next| next.flow_control() == FlowControl::Next);
    let uses_first = |next: &Instruction| {
        next.memory_base() == Register::RDI && next.op_kinds().any(|kind| kind == OpKind::Memory)
    };
    straight
        .find(|next| uses_first(next) || sets(next, Register::RDI))
        .is_some_and(|look| points_to_word(&look, Register::RDI))
}

/// Where a function changes the word that its first argument points to, if it then calls `futex`.
fn notifies_first(image: &Image<'_>, address: u64) -> Option<u64> {
    let code = image.decode(address, 0).take(HORIZON);
    let mut straight = code.take_while(|next| next.flow_control() == FlowControl::Next);
    let changes = |next: &Instruction| {
        next.has_lock_prefix() && points_to_word(next, Register::RDI) || sets(next, Register::RDI)
    };
    let change = straight.find(changes).filter(Instruction::has_lock_prefix)?;
    straight.any(|next| names_futex(&next)).then_some(change.ip())
}

/// Whether an operand is the word that a register points to.
fn points_to_word(instruction: &Instruction, register: Register) -> bool {
    instruction.op_kinds().any(|kind| kind == OpKind::Memory)
        && instruction.memory_base() == register
        && instruction.memory_index() == Register::None
        && instruction.memory_displacement64() == 0
        && instruction.memory_size().size() == size_of::<u32>()
}

/// Whether the first operand is a register, which is changed then.
fn sets(instruction: &Instruction, register: Register) -> bool {
    instruction.op0_kind() == OpKind::Register
        && instruction.op0_register().full_register() == register
}

fn changes_flags(instruction: &Instruction) -> bool {
    instruction.rflags_modified() != 0
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
        assert_eq!(of("7condvar5futexNtB2_7Condvar4wait"), Some(Role::Wait));
        let waits = of("7condvar5futexNtB2_7Condvar12wait_timeout");
        assert_eq!(waits, Some(Role::WaitTimeout));
        let notifies = "_RNvMNtNtNtCsjrHSEGnQ3l9_3std4sync6poison7condvarNtB2_7Condvar10notify_one";
        assert_eq!(role(notifies), Some(Role::NotifyOne));
        assert_eq!(role("_ZN3app7condvar7Condvar10notify_all17h0123456789abcdefE"), None);
        assert_eq!(of("6rwlock5futexNtB2_6RwLock4wake"), None);
        assert_eq!(of("6rwlock5futexNtB2_6RwLock14read_contended"), Some(Role::ReadContended));
        let gives_back = "_ZN3std3sys4sync6rwlock5futex6RwLock12write_unlock17h0123456789abcdefE";
        assert_eq!(role(gives_back), Some(Role::RwUnlock));
        assert_eq!(role("_ZN3std4sync6poison6rwlock6RwLock4read17h0123456789abcdefE"), None);
        let legacy = "_ZN3std3sys4sync5mutex5futex5Mutex14lock_contended17h0123456789abcdefE";
        assert_eq!(role(legacy), Some(Role::LockContended));
        assert_eq!(role("_ZN3app5Mutex4lock17h0123456789abcdefE"), None);
        let looks = "_ZN4core4sync6atomic9AtomicU3210try_update17h0123456789abcdefE";
        assert_eq!(role(looks), Some(Role::Look));
        assert_eq!(of("4once5futexNtB5_4Once4call"), Some(Role::Initialise));
        let initialises =
            "_ZN3std4sync9once_lock17OnceLock$LT$T$GT$10initialize17h0123456789abcdefE";
        assert_eq!(role(initialises), Some(Role::Initialise));
    }
}
