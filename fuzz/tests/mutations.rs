//! Each fuzz target on mutated samples. The seeds are fixed, so that every run is the same.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// How many mutants of files that are read in microseconds, and of programs.
const MUTANTS: u64 = 3000;
const PROGRAMS: u64 = 150;

fn sample(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples").join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A number below `end`, which is not 0.
fn below(random: &mut Pcg64, end: usize) -> usize {
    (random.next_u64() % end as u64) as usize
}

/// What often breaks readers: bytes, and texts in the place of others.
const BYTES: [u8; 8] = [0, 1, 0x7f, 0x80, 0xff, b'"', b'-', b'\n'];
const TEXTS: [&[u8]; 9] = [
    b"0",
    b"-1",
    b"4294967296",
    b"18446744073709551615",
    b"99999999999999999999999",
    b"1e400",
    b"\"\"",
    b"[",
    b"\xf0\x9f\x98\x80",
];

/// Changes bytes in one to eight places; `from` is where parts are copied from.
fn mutate(random: &mut Pcg64, sample: &[u8], from: &[u8]) -> Vec<u8> {
    let mut bytes = sample.to_vec();
    for _ in 0..=below(random, 8) {
        let at = below(random, bytes.len() + 1);
        let end = (at + below(random, 17)).min(bytes.len());
        match below(random, 7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << below(random, 8),
            1 if at < bytes.len() => bytes[at] = BYTES[below(random, BYTES.len())],
            2 => drop(bytes.drain(at..end)),
            3 => bytes.truncate(at),
            4 => drop(bytes.splice(at..end, TEXTS[below(random, TEXTS.len())].iter().copied())),
            5 => {
                let part = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, part));
            }
            _ => {
                let start = below(random, from.len() + 1);
                let part = &from[start..(start + 32).min(from.len())];
                drop(bytes.splice(at..end, part.iter().copied()));
            }
        }
    }
    bytes
}

/// Runs a target on mutants of all samples, and on bytes that are no sample at all.
fn fuzz(target: fn(&[u8]), samples: &[Vec<u8>], mutants: u64) {
    let mut random = Pcg64::seed_from_u64(1);
    for number in 0..mutants {
        let sample = &samples[number as usize % samples.len()];
        let from = &samples[below(&mut random, samples.len())];
        target(&mutate(&mut random, sample, from));
        let mut noise = vec![0; below(&mut random, 64)];
        random.fill_bytes(&mut noise);
        target(&noise);
    }
    target(&[]);
}

#[test]
fn traces() {
    let samples = [sample("program.json"), sample("model.json")];
    for sample in &samples {
        everypath_trace::file::from_bytes(sample).expect("the sample is a trace");
    }
    fuzz(everypath_fuzz::trace, &samples, MUTANTS);
}

#[test]
fn graphs() {
    let samples = [sample("arq.graph")];
    everypath_explore::graph::Graph::open(&samples[0]).expect("the sample is a graph");
    fuzz(everypath_fuzz::graph, &samples, MUTANTS);
}

#[test]
fn scenarios() {
    let samples = [sample("scenario.toml")];
    let text = String::from_utf8(samples[0].clone()).unwrap();
    everypath::scenario_words(Path::new("scenario.toml"), &text).expect("the sample is a scenario");
    fuzz(everypath_fuzz::scenario, &samples, MUTANTS / 10);
}

#[test]
fn topologies() {
    let samples = [sample("links.txt")];
    let text = String::from_utf8(samples[0].clone()).unwrap();
    everypath_net::Topology::parse(&text, 5).expect("the sample is a file of links");
    fuzz(everypath_fuzz::topology, &samples, MUTANTS);
}

#[test]
fn failure_lists() {
    let samples = [sample("failures.json")];
    everypath_check::FailureFile::from_bytes(&samples[0]).expect("the sample is what --emit wrote");
    fuzz(everypath_fuzz::failures, &samples, MUTANTS);
}

/// A small program, compiled now: with locks, exceptions and debug information.
fn program() -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/program.cpp");
    let built = folder.join(format!("program-{}", std::process::id()));
    let status = Command::new("c++").args(["-g", "-O1", "-o"]).arg(&built).arg(&source).status();
    assert!(status.expect("c++ is installed").success());
    let bytes = fs::read(&built).expect("it was just built");
    let _ = fs::remove_file(&built);
    bytes
}

/// A mutant with the same length, so that most of the file stays where its headers say.
fn in_place(bytes: &[u8], random: &mut Pcg64, part: std::ops::Range<usize>) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=below(random, 16) {
        let at = part.start + below(random, part.len());
        bytes[at] = match below(random, 3) {
            0 => bytes[at] ^ (1 << below(random, 8)),
            1 => BYTES[below(random, BYTES.len())],
            _ => random.next_u64() as u8,
        };
    }
    bytes
}

/// Where a section lies in the file.
fn section(bytes: &[u8], name: &str) -> std::ops::Range<usize> {
    use object::{Object, ObjectSection};
    let file = object::File::parse(bytes).expect("a compiler made it");
    let section = file.section_by_name(name).expect("compilers make it");
    let (start, length) = section.file_range().expect("it is in the file");
    start as usize..(start + length) as usize
}

#[test]
fn elf_files() {
    let program = program();
    let mut random = Pcg64::seed_from_u64(1);
    let headers = program.len() - 4096..program.len();
    for _ in 0..PROGRAMS {
        everypath_fuzz::elf(&in_place(&program, &mut random, 0..2048));
        everypath_fuzz::elf(&in_place(&program, &mut random, headers.clone()));
        everypath_fuzz::elf(&in_place(&program, &mut random, section(&program, ".text")));
        everypath_fuzz::elf(&program[..below(&mut random, program.len())]);
    }
}

#[test]
fn unwind_tables() {
    let program = program();
    let mut random = Pcg64::seed_from_u64(1);
    for name in [".eh_frame", ".gcc_except_table"] {
        let part = section(&program, name);
        for _ in 0..PROGRAMS {
            let mutant = in_place(&program, &mut random, part.clone());
            everypath_fuzz::eh_frame(&mutant);
            everypath_fuzz::elf(&mutant);
        }
    }
}
