//! Copies of compiled functions: what they record, and how the original leads to them.

use everypath_rewrite::{AccessKind, Copy, CopyLayout, Counters, Point, SiteKind, copy};
use iced_x86::{Decoder, DecoderOptions, FlowControl, InstructionInfoFactory, Mnemonic, Register};
use object::{Object, ObjectSymbol};
use std::process::Command;

const BASE: u64 = 0x5555_5555_4000;
const COPIES: u64 = 0x5555_6000_0000;

const SOURCE: &str = "
    long counter;
    void copy_word(long *to, long *from) { *to = *from + 1; }
    void count(long *at) { *at += 10; }
    void count_static(void) { counter++; }
    int compare(char *a, char *b) { while (*a && *a == *b) a++, b++; return *a - *b; }
    int choose(int which) {
        switch (which) {
        case 0: return counter; case 1: return 7; case 2: return 9; case 3: return 1;
        case 4: return 12; case 5: return 3; default: return compare((char *)&counter, \"x\");
        }
    }
    void fill(char *at, long count) { __asm__ volatile(\"rep stosq\" : \"+D\"(at), \"+c\"(count) : \"a\"(0L) : \"memory\"); }
    long find(char *at, long count) { __asm__ volatile(\"repne scasb\" : \"+D\"(at), \"+c\"(count) : \"a\"(0) : \"memory\"); return count; }
    int main(int argc, char **argv) { count(&counter); return choose(argc); }
";

struct Module {
    elf: Vec<u8>,
}

impl Module {
    fn compile(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let (source, program) = (folder.path().join("a.c"), folder.path().join("a"));
        std::fs::write(&source, SOURCE).expect("the folder is writable");
        let mut cc = Command::new("cc");
        let status = cc.args(options).arg("-o").arg(&program).arg(&source).status();
        assert!(status.expect("there is a C compiler").success());
        Module { elf: std::fs::read(&program).expect("the compiler wrote a program") }
    }

    fn copy(&self, armed: &[u64]) -> Copy {
        let layout = CopyLayout {
            base: BASE,
            copies: COPIES,
            entry: 0x1000,
            entry_lower: 0x2000,
            first_site: 0,
            first_block: 1,
            counters: Counters::default(),
            armed,
            everywhere: false,
        };
        copy(&self.elf, &layout).expect("compiled code can be copied")
    }

    /// Where a function is in the file.
    fn function(&self, name: &str) -> std::ops::Range<u64> {
        let file = object::File::parse(&*self.elf).expect("the compiler wrote an ELF file");
        let mut symbols = file.symbols();
        let found = symbols.find(|symbol| symbol.name() == Ok(name)).expect("the symbol exists");
        found.address()..found.address() + found.size()
    }

    /// The accesses that are recorded in a function.
    fn accesses(&self, copy: &Copy, name: &str) -> Vec<(AccessKind, u16)> {
        let function = self.function(name);
        let inside = copy.accesses.iter().filter(|access| function.contains(&access.site));
        inside.map(|access| (access.kind, access.size)).collect()
    }
}

#[test]
fn every_access_of_a_function_is_recorded() {
    let module = Module::compile(&["-O2"]);
    let copy = module.copy(&[]);
    let accesses = |name| module.accesses(&copy, name);
    assert_eq!(accesses("copy_word"), [(AccessKind::Read, 8), (AccessKind::Write, 8)]);
    assert_eq!(accesses("count"), [(AccessKind::Update, 8)]);
    assert_eq!(accesses("count_static"), [(AccessKind::Update, 8)]);
    assert!(copy.accesses.iter().all(|access| access.point == Point::Never));
}

#[test]
fn the_start_of_a_function_leads_to_its_copy() {
    for options in [["-O0", "-g"], ["-O1", "-g"], ["-O2", "-s"], ["-O3", "-fPIE"]] {
        let module = Module::compile(&options);
        let copy = module.copy(&[]);
        assert!(!copy.patches.is_empty() && !copy.code.is_empty());
        for patch in &copy.patches {
            let mut decoder =
                Decoder::with_ip(64, &patch.bytes, patch.address, DecoderOptions::NONE);
            let first = decoder.decode();
            // What records nothing up to its return stays as it is.
            if first.mnemonic() == Mnemonic::Jmp {
                let mut target = first.near_branch_target();
                if first.len() == 2 {
                    let island = (target - patch.address) as usize;
                    decoder.set_position(island).expect("the island is in the function");
                    decoder.set_ip(target);
                    target = decoder.decode().near_branch_target();
                }
                let trap = copy.traps.iter().find(|trap| trap.address == patch.address);
                assert_eq!(trap.map(|trap| trap.stub), Some(target), "{options:?}");
                let origin = copy.origin((target - COPIES) as u32);
                assert_eq!(origin, Some(patch.address - BASE), "{options:?}");
            }
        }
    }
}

#[test]
fn an_armed_update_is_two_steps() {
    let module = Module::compile(&["-O2"]);
    let plain = module.copy(&[]);
    let function = module.function("count");
    let update = plain.accesses.iter().find(|access| function.contains(&access.site));
    let update = update.expect("the update is recorded").site;
    let armed = module.copy(&[update]);
    let steps = armed.sites.iter().filter(|site| site.address == update + BASE);
    let kinds: Vec<SiteKind> = steps.map(|site| site.kind).collect();
    assert_eq!(kinds, [SiteKind::Load, SiteKind::Store]);
    let recorded = armed.accesses.iter().filter(|access| access.site == update);
    let recorded: Vec<_> = recorded.map(|access| (access.kind, access.point)).collect();
    assert_eq!(recorded, [(AccessKind::Read, Point::Armed), (AccessKind::Write, Point::Armed)]);
}

#[test]
fn calls_stay_where_they_are() {
    let module = Module::compile(&["-O0"]);
    let copy = module.copy(&[]);
    let main = module.function("main");
    let patch = copy.patches.iter().find(|patch| patch.address == main.start + BASE);
    let patch = patch.expect("main is copied");
    let calls = |bytes: &[u8], start: u64| -> Vec<u64> {
        let decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
        let calls = decoder.into_iter().filter(|found| found.flow_control() == FlowControl::Call);
        calls.map(|call| call.near_branch_target()).collect()
    };
    let targets = calls(&patch.bytes, main.start);
    assert!(targets.contains(&module.function("count").start), "{targets:x?}");
    assert!(targets.contains(&module.function("choose").start), "{targets:x?}");
}

/// How often a `rep` stores is a word of its record; how far a search goes nobody knows before, so that
/// stays as it is, and is named.
#[test]
fn repeated_instructions_are_recorded_with_their_count() {
    let module = Module::compile(&["-O2"]);
    let copy = module.copy(&[]);
    assert_eq!(module.accesses(&copy, "fill"), [(AccessKind::Write, 8)]);
    let function = module.function("fill");
    let fill = copy.accesses.iter().find(|access| function.contains(&access.site));
    assert!(fill.is_some_and(|access| access.count.is_some()), "{fill:?}");
    assert_eq!(copy.unseen, [module.function("find").start]);
}

/// Code in no function is not copied; if a function leads there, it is named.
#[test]
fn code_outside_of_functions_is_named() {
    let module = Module::compile(&["-O2"]);
    assert_eq!(module.copy(&[]).unseen.len(), 1, "of start-up code nothing is named");
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let source = folder.path().join("b.c");
    let text = "__asm__(\".globl hidden\\nhidden: movl $1, (%rdi)\\nret\");
                void hidden(int *); int main(void) { int it; hidden(&it); return it; }";
    std::fs::write(&source, text).expect("the folder is writable");
    let program = folder.path().join("b");
    let status = Command::new("cc").arg("-O2").arg("-o").arg(&program).arg(&source).status();
    assert!(status.expect("there is a C compiler").success());
    let module = Module { elf: std::fs::read(&program).expect("the compiler wrote a program") };
    assert_eq!(module.copy(&[]).unseen, [module.function("hidden").start]);
}

/// Every byte of a function that was copied is a call, an entry that leads to the copy, a piece of code
/// that records nothing, or a trap: code cannot run there unseen.
#[test]
fn what_is_left_of_a_copied_function_accesses_nothing() {
    for options in [["-O0", "-g"], ["-O1", "-g"], ["-O2", "-s"], ["-O3", "-fPIE"]] {
        let module = Module::compile(&options);
        let copy = module.copy(&[]);
        let copies = COPIES..COPIES + copy.code.len() as u64;
        let mut factory = InstructionInfoFactory::new();
        for patch in &copy.patches {
            let whole = patch.address..patch.address + patch.bytes.len() as u64;
            for left in Decoder::with_ip(64, &patch.bytes, patch.address, DecoderOptions::NONE) {
                let leads_on = left.mnemonic() == Mnemonic::Jmp
                    && (copies.contains(&left.near_branch_target())
                        || whole.contains(&left.near_branch_target()));
                let is_call = left.flow_control() == FlowControl::Call
                    || left.flow_control() == FlowControl::IndirectCall;
                let returns = left.flow_control() == FlowControl::Return;
                let records_nothing = left.flow_control() == FlowControl::Next
                    && factory.info(&left).used_memory().iter().all(|memory| {
                        left.is_stack_instruction()
                            || matches!(
                                left.mnemonic(),
                                Mnemonic::Lea | Mnemonic::Nop | Mnemonic::Endbr64
                            )
                            || memory.segment() == Register::FS
                    });
                let is_trap = left.mnemonic() == Mnemonic::Int3;
                assert!(
                    leads_on || is_call || returns || records_nothing || is_trap,
                    "{options:?}: {left:?} at {:#x}",
                    left.ip() - BASE
                );
            }
        }
    }
}
