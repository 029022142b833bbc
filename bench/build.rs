//! Ports the small algorithms to Shuttle and to loom: their modules are named instead of std's.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

const ALGORITHMS: [&str; 4] = ["bank", "queue", "readers", "counter"];

#[expect(clippy::disallowed_methods, reason = "cargo speaks to build scripts by the environment")]
fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo::rerun-if-changed=programs/algorithms");
    for algorithm in ALGORITHMS {
        let path = Path::new("programs/algorithms").join(algorithm).with_extension("rs");
        let source = fs::read_to_string(&path).expect("the algorithm is there");
        for (name, library, long) in [
            ("shuttle", "shuttle", "false"),
            ("loom", "loom", "false"),
            ("loom_long", "loom", "true"),
        ] {
            let source = source.replace("cfg!(long)", long);
            let ported = ["sync", "thread"].iter().fold(source, |text, module| {
                text.replace(&format!("std::{module}"), &format!("{library}::{module}"))
            });
            fs::write(out.join(format!("{name}_{algorithm}.rs")), ported)
                .expect("cargo's folder is writable");
        }
    }
}
