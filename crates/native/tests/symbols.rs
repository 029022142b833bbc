//! Addresses of compiled programs, as words.

use crate::common::{Compiled, compile};
use everypath_native::symbols::{Frame, Module, Registers, Symbols, interesting};
use everypath_rewrite::{Counters, Layout, SiteKind, plan};
use object::{Object, ObjectSymbol};
use std::process::Command;

const BASE: u64 = 0x5555_5555_4000;
const STACK: &str = include_str!("programs/stack.c");
const BANK: &str = include_str!("programs/bank.rs");

fn symbols(compiled: &Compiled, base: u64) -> Symbols {
    let module = Module { path: compiled.path.clone(), base };
    Symbols::new(vec![(module, compiled.bytes().into())])
}

/// The address of a symbol; names of Rust are mangled, and only hold the one given.
fn address(compiled: &Compiled, name: &str) -> u64 {
    let bytes = compiled.bytes();
    let file = object::File::parse(&*bytes).expect("the compiler wrote an ELF file");
    let mut symbols = file.symbols();
    let mangled = format!("{}{name}", name.len());
    let is_named = |found: &str| found == name || found.contains(&mangled);
    let found = symbols.find(|symbol| symbol.name().is_ok_and(is_named));
    BASE + found.expect("the symbol exists").address()
}

/// The line of the source that contains the text.
fn line(source: &str, marker: &str) -> u32 {
    let index = source.lines().position(|line| line.contains(marker)).expect("the line exists");
    index as u32 + 1
}

fn shown(frames: &[Frame]) -> Vec<String> {
    frames.iter().map(ToString::to_string).collect()
}

/// The first exchange of the program, in `inlined`.
fn exchange(compiled: &Compiled) -> u64 {
    let layout = Layout {
        base: BASE,
        trampolines: BASE - 0x100_0000,
        entry: 0,
        entry_lower: 0,
        first_site: 0,
        counters: Counters::SkipUnused,
    };
    let sites = plan(&compiled.bytes(), &layout).expect("the program is patched").sites;
    sites.iter().find(|site| site.kind == SiteKind::Exchange).expect("it exchanges").address
}

#[test]
fn functions_and_lines_of_c() {
    let compiled = compile("stack.c", &["-O2", "-g"]);
    let symbols = symbols(&compiled, BASE);
    let expected = [
        format!("inlined at stack.c:{}", line(STACK, "// exchange")),
        format!("middle at stack.c:{}", line(STACK, "// call of inner")),
    ];
    assert_eq!(shown(&symbols.frames(exchange(&compiled), false)), expected);
    assert!(symbols.frames(BASE - 1, false).is_empty());
}

#[test]
fn without_debug_information_there_are_symbols() {
    let compiled = compile("stack.c", &["-O2"]);
    let inner = address(&compiled, "inner");
    let frames = symbols(&compiled, BASE).frames(inner + 1, true);
    assert_eq!(shown(&frames), [format!("inner in program+{:#x}", inner - BASE)]);
}

#[test]
fn a_stripped_file_still_has_places() {
    let compiled = compile("stack.c", &["-O2", "-s"]);
    let exchange = exchange(&compiled);
    let symbols = symbols(&compiled, BASE);
    let place = format!("program+{:#x}", exchange - BASE);
    assert_eq!(shown(&symbols.frames(exchange, false)), [place]);
}

#[test]
fn variables_of_c() {
    let compiled = compile("stack.c", &["-O2"]);
    let (table, zeros) = (address(&compiled, "table"), address(&compiled, "zeros"));
    let symbols = symbols(&compiled, BASE);
    assert_eq!(symbols.variable(table).as_deref(), Some("table"));
    assert_eq!(symbols.variable(table + 24).as_deref(), Some("table+24"));
    assert_eq!(symbols.variable(zeros + 8).as_deref(), Some("zeros+8"));
    let elsewhere = symbols.variable(BASE).expect("the header of the file is loaded");
    assert_eq!(elsewhere, "program+0x0");
    assert_eq!(symbols.variable(BASE - 8), None);
}

#[test]
fn functions_lines_and_variables_of_rust() {
    let compiled = compile("bank.rs", &["-O", "-g", "--edition=2024"]);
    let limit = address(&compiled, "LIMIT");
    let withdraw = address(&compiled, "withdraw");
    let symbols = symbols(&compiled, BASE);
    assert_eq!(symbols.variable(limit + 8).as_deref(), Some("bank::LIMIT+8"));

    let layout = Layout {
        base: BASE,
        trampolines: BASE - 0x100_0000,
        entry: 0,
        entry_lower: 0,
        first_site: 0,
        counters: Counters::SkipUnused,
    };
    let plan = plan(&compiled.bytes(), &layout).expect("the program is patched");
    let lock = plan.sites.iter().find(|site| site.address >= withdraw).expect("it locks");
    assert_eq!(lock.kind, SiteKind::Lock);
    let frames = symbols.frames(lock.address, false);
    assert!(frames[0].to_string().starts_with("core::sync::atomic::"), "{}", frames[0]);
    let own = format!("bank::account::withdraw at bank.rs:{}", line(BANK, "account.lock()"));
    assert_eq!(shown(&interesting(&frames)), [own]);
}

/// What `stack.c` says about itself.
struct Snapshot {
    registers: Registers,
    base: u64,
    stack: Vec<u64>,
}

impl Snapshot {
    fn take(compiled: &Compiled) -> Self {
        let output = Command::new(&compiled.path).output().expect("the program starts");
        let text = String::from_utf8(output.stdout).expect("the program prints text");
        let mut words = text
            .split_whitespace()
            .map(|word| u64::from_str_radix(word, 16).expect("the program prints numbers"));
        let mut next = || words.next().expect("the program prints registers");
        let registers = Registers { rip: next(), rsp: next(), rbp: next() };
        Snapshot { registers, base: next(), stack: words.collect() }
    }

    fn read(&self, address: u64) -> Option<u64> {
        let index = address.checked_sub(self.registers.rsp)? / 8;
        self.stack.get(index as usize).copied()
    }
}

/// The stack as `file:line` and functions, of frames in the program.
fn stack(symbols: &Symbols, addresses: &[u64]) -> Vec<String> {
    let frames = addresses.iter().enumerate();
    frames.flat_map(|(index, &address)| shown(&symbols.frames(address, index > 0))).collect()
}

fn expected_stack() -> [String; 3] {
    [
        format!("inner at stack.c:{}", line(STACK, "// registers")),
        format!("middle at stack.c:{}", line(STACK, "// call of inner")),
        format!("main at stack.c:{}", line(STACK, "// call of middle")),
    ]
}

#[test]
fn a_stack_without_frame_pointers_is_followed() {
    let compiled = compile("stack.c", &["-O2", "-g", "-fomit-frame-pointer"]);
    let snapshot = Snapshot::take(&compiled);
    let mut symbols = symbols(&compiled, snapshot.base);
    let addresses = symbols.unwind(snapshot.registers, &mut |address| snapshot.read(address));
    assert_eq!(addresses[0], snapshot.registers.rip);
    assert_eq!(stack(&symbols, &addresses)[..3], expected_stack());
}

#[test]
fn a_call_that_went_astray_shows_its_caller() {
    let compiled = compile("stack.c", &["-O2", "-g", "-fomit-frame-pointer"]);
    let snapshot = Snapshot::take(&compiled);
    let mut symbols = symbols(&compiled, snapshot.base);
    let Registers { rip, rsp, rbp } = snapshot.registers;
    let mut read = |address| if address == rsp - 8 { Some(rip) } else { snapshot.read(address) };
    let addresses = symbols.unwind(Registers { rip: 0, rsp: rsp - 8, rbp }, &mut read);
    assert_eq!(addresses[..2], [0, rip]);
    assert_eq!(stack(&symbols, &addresses)[..3], expected_stack());
}

#[test]
fn an_endless_stack_ends() {
    let compiled = compile("stack.c", &["-O2"]);
    let mut symbols = symbols(&compiled, BASE);
    let middle = address(&compiled, "middle");
    let registers = Registers { rip: middle, rsp: 0x7000_0000_0000, rbp: 0x7000_0000_0000 };
    let addresses = symbols.unwind(registers, &mut |_| Some(middle));
    assert!((2..=128).contains(&addresses.len()), "{}", addresses.len());
    assert_eq!(symbols.unwind(registers, &mut |_| None), [middle]);
}
