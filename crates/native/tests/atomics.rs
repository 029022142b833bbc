//! Patched programs: what the plan says, and what happens when they are run.

use crate::common::{Compiled, compile};
use everypath_rewrite::{Counters, Layout, Patch, Plan, Site, SiteKind, plan};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use object::{Object, ObjectSegment, ObjectSymbol};
use std::collections::BTreeMap;
use std::process::{Command, Output};

/// Fixed addresses, so that stubs can be put into the file of the program.
const FIXED: [&str; 3] = ["-O1", "-no-pie", "-fcf-protection=none"];
const FIRST_SITE: u32 = 1000;

/// An ELF file as its patches see it: at the addresses in the file, plus `base`.
struct Loaded {
    bytes: Vec<u8>,
    base: u64,
}

impl Loaded {
    fn file(&self) -> object::File<'_> {
        object::File::parse(&*self.bytes).expect("the compiler wrote an ELF file")
    }

    fn symbol(&self, name: &str) -> u64 {
        let file = self.file();
        let mut symbols = file.symbols();
        symbols.find(|symbol| symbol.name() == Ok(name)).expect("the symbol exists").address()
    }

    /// The name of the function at an address.
    fn function(&self, address: u64) -> String {
        let file = self.file();
        let found = file.symbols().find(|symbol| {
            let start = symbol.address() + self.base;
            (start..start + symbol.size()).contains(&address)
        });
        found.and_then(|symbol| symbol.name().map(str::to_string).ok()).unwrap_or_default()
    }

    fn offset(&self, address: u64) -> usize {
        let address = address - self.base;
        let file = self.file();
        let mut segments = file.segments();
        let segment = segments
            .find(|segment| {
                (segment.address()..segment.address() + segment.size()).contains(&address)
            })
            .expect("the address is loaded");
        (address - segment.address() + segment.file_range().0) as usize
    }

    fn write(&mut self, address: u64, bytes: &[u8]) {
        let offset = self.offset(address);
        self.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    fn decode(&self, address: u64, count: usize) -> Vec<Instruction> {
        let code = &self.bytes[self.offset(address)..];
        Decoder::with_ip(64, code, address, DecoderOptions::NONE).into_iter().take(count).collect()
    }
}

fn layout(program: &Loaded, counters: Counters) -> Layout {
    Layout {
        base: program.base,
        trampolines: program.symbol("stubs"),
        entry: program.symbol("entry"),
        entry_lower: program.symbol("entry"),
        first_site: FIRST_SITE,
        counters,
    }
}

/// The program after its own file was patched.
fn patched(program: &mut Loaded, plan: &Plan) {
    let stubs = program.symbol("stubs");
    program.write(stubs, &plan.trampolines);
    let mut traps = program.symbol("traps");
    for patch in &plan.patches {
        program.write(patch.address, &patch.bytes);
        if let Some(stub) = patch.trap {
            program.write(traps, &patch.address.to_le_bytes());
            program.write(traps + 8, &stub.to_le_bytes());
            traps += 16;
        }
    }
}

fn run(compiled: &Compiled) -> Output {
    let output = Command::new(&compiled.path).output().expect("the program starts");
    assert!(output.status.success(), "{:?}", output.status);
    output
}

fn text(bytes: &[u8]) -> Vec<Vec<String>> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().map(|line| line.split(' ').map(str::to_string).collect()).collect()
}

/// The results in the output of `kinds.c`, without the addresses.
fn results(output: &Output) -> Vec<(String, Vec<String>)> {
    text(&output.stdout).iter().map(|line| (line[0].clone(), line[2..].to_vec())).collect()
}

/// How often a line of the output of `kinds.c` must have met the shim.
fn expected_records(function: &str, earlier: usize, address: &str, counters: Counters) -> usize {
    match function {
        "retry" | "neighbours" => 2,
        "pauses" | "pause_and_jump" | "fence" => 1,
        "count" | "count_add" => usize::from(counters == Counters::All),
        "prefix_skipped" => earlier,
        "no_site" => 0,
        _ => usize::from(address != "0:"),
    }
}

fn check_run(counters: Counters) {
    let compiled = compile("kinds.c", &FIXED);
    let mut program = Loaded { bytes: compiled.bytes(), base: 0 };
    let plan = plan(&program.bytes, &layout(&program, counters)).expect("the program is patched");
    let before = run(&compiled);
    assert!(before.stderr.is_empty());
    patched(&mut program, &plan);
    std::fs::write(&compiled.path, &program.bytes).expect("the program can be replaced");
    let after = run(&compiled);
    assert_eq!(results(&before), results(&after));

    let mut calls: BTreeMap<String, usize> = BTreeMap::new();
    let mut expected = Vec::new();
    for line in text(&after.stdout) {
        let earlier = calls.entry(line[0].clone()).or_default();
        for _ in 0..expected_records(&line[0], *earlier, &line[1], counters) {
            expected.push((line[0].clone(), line[1].trim_end_matches(':').to_string()));
        }
        *earlier += 1;
    }
    let recorded: Vec<(String, String)> = text(&after.stderr)
        .iter()
        .map(|record| {
            let number: u32 = record[0].parse().expect("a record starts with the site");
            let site = plan.sites[(number - FIRST_SITE) as usize];
            (program.function(site.address), record[1].clone())
        })
        .collect();
    assert_eq!(recorded, expected);
}

#[test]
fn a_patched_program_computes_the_same_and_meets_the_shim() {
    check_run(Counters::SkipUnused);
}

#[test]
fn counters_are_sites_when_asked_for() {
    check_run(Counters::All);
}

#[test]
fn sites_have_kinds_and_sizes() {
    let compiled = compile("kinds.c", &FIXED);
    let program = Loaded { bytes: compiled.bytes(), base: 0 };
    let plan = plan(&program.bytes, &layout(&program, Counters::All)).expect("it is patched");
    let of = |name: &str| -> Vec<(SiteKind, u8)> {
        let sites = plan.sites.iter().filter(|site| program.function(site.address) == name);
        sites.map(|site| (site.kind, site.size)).collect()
    };
    use SiteKind::{CompareExchange, Exchange, Fence, FetchModify, Load, Pause, Store};
    for (name, size) in [("cas8", 1), ("cas16", 2), ("cas32", 4), ("cas64", 8), ("cas16b", 16)] {
        assert_eq!(of(name), [(CompareExchange, size)], "{name}");
    }
    assert_eq!(of("exchange"), [(Exchange, 8)]);
    assert_eq!(of("neighbours"), [(Exchange, 4), (Exchange, 4)]);
    for name in ["fetch_add", "bit", "decrement", "count"] {
        assert_eq!(of(name), [(FetchModify, 8)], "{name}");
    }
    assert_eq!(of("pauses"), [(Pause, 0)]);
    assert_eq!(of("fence"), [(Fence, 0)]);
    assert_eq!(of("fence_by_lock"), [(Fence, 4)]);
    assert_eq!(of("static_load"), [(Load, 8)]);
    assert_eq!(of("static_compare"), [(Load, 4)]);
    assert_eq!(of("static_store"), [(Store, 8)]);
    assert!(of("static_address").is_empty());
    assert!(of("no_site").is_empty());
}

#[test]
fn what_cannot_make_room_for_a_jump_traps() {
    let compiled = compile("kinds.c", &FIXED);
    let program = Loaded { bytes: compiled.bytes(), base: 0 };
    let plan = plan(&program.bytes, &layout(&program, Counters::All)).expect("it is patched");
    let traps = plan.patches.iter().filter(|patch| patch.trap.is_some());
    let mut trapping: Vec<String> = traps.map(|patch| program.function(patch.address)).collect();
    trapping.sort();
    let expected = [
        "call_behind",
        "entered_by_address",
        "entered_by_constant",
        "entered_by_jump",
        "entered_by_pointer",
        "entered_by_table",
        "exchange32",
        "neighbours",
        "prefix_skipped",
    ];
    assert_eq!(trapping, expected);
}

/// The instructions that a patch replaces.
fn replaced(program: &Loaded, patch: &Patch) -> Vec<Instruction> {
    if patch.trap.is_some() {
        return program.decode(patch.address, 1);
    }
    let end = patch.address + patch.bytes.len() as u64;
    let following = program.decode(patch.address, patch.bytes.len());
    following.into_iter().take_while(|instruction| instruction.ip() < end).collect()
}

/// Whether nobody can see what the flags were before the instructions: those that are looked at were
/// set before by one of them, and all are in the end.
fn overwrites_flags(moved: &[Instruction]) -> bool {
    const ALL: u32 = 0b11_1111;
    let set_before =
        |at: usize| moved[..at].iter().fold(0, |set, code| set | code.rflags_modified());
    let runs_through =
        moved.iter().take_while(|code| code.flow_control() == FlowControl::Next).count();
    let seen = |at: usize| moved[at].rflags_read() & ALL & !set_before(at) != 0;
    let end = (0..=runs_through).find(|&at| set_before(at) & ALL == ALL);
    end.is_some_and(|end| !(0..end).any(seen))
}

/// The stub at the start of the code must be what the shim relies on; returns its size.
fn check_stub(code: &[u8], stub: u64, site: Site, number: i64, moved: &[Instruction]) -> usize {
    let mut decoder = Decoder::with_ip(64, code, stub, DecoderOptions::NONE);
    let mut take = |mnemonic| {
        let instruction = decoder.decode();
        assert_eq!(instruction.mnemonic(), mnemonic, "{:#x}", site.address);
        instruction
    };
    let stack = |lea: Instruction, distance: i64| {
        assert_eq!((lea.op0_register(), lea.memory_base()), (Register::RSP, Register::RSP));
        assert_eq!(lea.memory_displacement64() as i64, distance);
    };
    stack(take(Mnemonic::Lea), -0x80);
    let keeps_flags = !overwrites_flags(moved);
    take(if keeps_flags { Mnemonic::Pushfq } else { Mnemonic::Push });
    assert_eq!(take(Mnemonic::Push).op0_register(), Register::RAX);
    if matches!(moved[0].mnemonic(), Mnemonic::Pause | Mnemonic::Mfence) {
        assert_eq!(take(Mnemonic::Xor).op0_register(), Register::EAX);
    } else if site.kind.is_call() {
        let argument = take(Mnemonic::Mov);
        assert_eq!(
            (argument.op0_register(), argument.op1_register()),
            (Register::RAX, Register::RDI)
        );
    } else {
        let lea = take(Mnemonic::Lea);
        assert_eq!(lea.op0_register(), Register::RAX);
        let moved_by = if moved[0].memory_base() == Register::RSP { 0x90 } else { 0 };
        assert_eq!(lea.memory_base(), moved[0].memory_base());
        assert_eq!(lea.memory_index(), moved[0].memory_index());
        assert_eq!(lea.memory_index_scale(), moved[0].memory_index_scale());
        assert_eq!(lea.memory_displacement64(), moved[0].memory_displacement64() + moved_by);
    }
    assert_eq!(take(Mnemonic::Push).op0_register(), Register::RAX);
    assert_eq!(take(Mnemonic::Push).immediate(0) as i64, number);
    let entry = take(Mnemonic::Mov);
    assert_eq!((entry.op0_register(), entry.immediate(1)), (Register::RAX, ENTRY));
    assert_eq!(take(Mnemonic::Call).op0_register(), Register::RAX);
    stack(take(Mnemonic::Lea), 16);
    assert_eq!(take(Mnemonic::Pop).op0_register(), Register::RAX);
    if keeps_flags {
        take(Mnemonic::Popfq);
    }
    stack(take(Mnemonic::Lea), if keeps_flags { 0x80 } else { 0x88 });
    for original in moved.iter().filter(|moved| moved.mnemonic() != Mnemonic::Pause) {
        let copy = take(original.mnemonic());
        assert_eq!(copy.near_branch_target(), original.near_branch_target());
        assert_eq!(copy.has_lock_prefix(), original.has_lock_prefix());
        for operand in 0..original.op_count() {
            if original.op_kind(operand) == OpKind::Register {
                assert_eq!(copy.op_register(operand), original.op_register(operand));
            }
        }
        assert_eq!(copy.memory_base(), original.memory_base());
        assert_eq!(copy.memory_index(), original.memory_index());
        assert_eq!(copy.memory_displacement64(), original.memory_displacement64());
    }
    let back = take(Mnemonic::Jmp);
    assert_eq!(back.near_branch_target(), moved.last().expect("a site is moved").next_ip());
    decoder.position()
}

const ENTRY: u64 = 0x7FFF_F7C0_1230;

/// Whether a name is of what the standard library keeps for itself.
fn is_own_of_std(name: &str) -> bool {
    ["stack_overflow", "PANIC_COUNT", "6enable5DTORS"].iter().any(|part| name.contains(part))
}

#[test]
fn every_lock_of_a_rust_program_is_patched_once() {
    let compiled = compile("bank.rs", &["-O", "-g", "--edition=2024"]);
    let program = Loaded { bytes: compiled.bytes(), base: 0x5555_5555_4000 };
    let layout = Layout {
        base: program.base,
        trampolines: 0x5555_5000_0000,
        entry: ENTRY,
        entry_lower: ENTRY,
        first_site: FIRST_SITE,
        counters: Counters::SkipUnused,
    };
    let plan = plan(&program.bytes, &layout).expect("the program is patched");
    assert!(
        plan.patches
            .is_sorted_by(|one, next| { one.address + one.bytes.len() as u64 <= next.address })
    );

    let mut stub = 0;
    for (index, (patch, site)) in plan.patches.iter().zip(&plan.sites).enumerate() {
        assert_eq!(patch.address, site.address);
        let at = layout.trampolines + stub as u64;
        let leads_to = patch.trap.unwrap_or_else(|| {
            let jump =
                Decoder::with_ip(64, &patch.bytes, patch.address, DecoderOptions::NONE).decode();
            assert_eq!((jump.mnemonic(), jump.len()), (Mnemonic::Jmp, 5));
            jump.near_branch_target()
        });
        assert_eq!(leads_to, at);
        let number = i64::from(FIRST_SITE) + index as i64;
        let moved = replaced(&program, patch);
        assert_eq!(plan.site_of_stub(at), Some(*site));
        stub += check_stub(&plan.trampolines[stub..], at, *site, number, &moved);
        assert_eq!(plan.site_of_stub(layout.trampolines + stub as u64 - 1), Some(*site));
    }
    assert_eq!(stub, plan.trampolines.len());
    assert_eq!(plan.site_of_stub(layout.trampolines - 1), None);
    assert_eq!(plan.site_of_stub(layout.trampolines + stub as u64), None);

    // Decoded once more, from the symbols alone.
    let file = program.file();
    let own_of_std = |address: u64| {
        let mut symbols = file.symbols();
        symbols.any(|symbol| {
            symbol.address() + program.base == address && symbol.name().is_ok_and(is_own_of_std)
        })
    };
    let mut locks = Vec::new();
    let mut left_out = 0;
    for symbol in file.symbols().filter(|symbol| symbol.kind() == object::SymbolKind::Text) {
        let start = symbol.address() + program.base;
        let code = program.decode(start, symbol.size() as usize);
        let code = code.iter().take_while(|code| code.ip() < start + symbol.size());
        let is_lock = |code: &&Instruction| match code.mnemonic() {
            Mnemonic::Xchg => code.op0_kind() == OpKind::Memory,
            Mnemonic::Cmpxchg | Mnemonic::Cmpxchg16b => code.has_lock_prefix(),
            _ => false,
        };
        for lock in code.filter(is_lock) {
            match own_of_std(lock.memory_displacement64()) {
                true => left_out += 1,
                false => locks.push(lock.ip()),
            }
        }
    }
    assert!(left_out > 0, "the standard library has locks that no program can see");
    locks.sort_unstable();
    locks.dedup();
    let is_lock = |site: &&Site| {
        use SiteKind::{CompareExchange, Exchange, Lock, ReadLock, Unlock, WriteLock};
        matches!(site.kind, CompareExchange | Exchange | Lock | Unlock | ReadLock | WriteLock)
    };
    let planned: Vec<u64> = plan.sites.iter().filter(is_lock).map(|site| site.address).collect();
    assert_eq!(planned, locks);
    assert!(locks.len() > 20, "the standard library has locks");
}

#[test]
fn what_cannot_be_patched_is_said() {
    let layout = Layout {
        base: 0,
        trampolines: 1 << 40,
        entry: ENTRY,
        entry_lower: ENTRY,
        first_site: 0,
        counters: Counters::SkipUnused,
    };
    let error = plan(b"#!/bin/sh\n", &layout).expect_err("a script is no module");
    assert!(error.to_string().starts_with("it is no readable x86-64 ELF file"), "{error}");
    let compiled = compile("kinds.c", &FIXED);
    let error = plan(&compiled.bytes(), &layout).expect_err("the stubs are out of reach");
    assert!(error.to_string().contains("too far"), "{error}");
    // Its functions are written in assembly and have symbols only.
    let stripped = compile("kinds.c", &[&FIXED[..], &["-s"]].concat());
    let error = plan(&stripped.bytes(), &layout).expect_err("locks would be missed");
    assert!(error.to_string().contains("outside of all functions"), "{error}");
}
