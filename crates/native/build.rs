//! Builds the shim, and what takes the place of ThreadSanitizer's runtime. This crate embeds both: the
//! checker is one self-contained file.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

#[expect(clippy::disallowed_methods, reason = "cargo speaks to build scripts by the environment")]
fn main() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crates' folder");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let manifest = ["shim/Cargo.toml", "shim/Cargo.lock", "tsan/Cargo.toml", "tsan/build.rs"];
    let sources = [
        "shim/src",
        "tsan/src",
        "shim-abi/src",
        "commtree/src",
        "dependence/src",
        "perturb/src",
        "vkernel/src",
    ];
    for part in manifest.into_iter().chain(sources) {
        println!("cargo::rerun-if-changed={}", crates.join(part).display());
    }
    let target = out.join("shim");
    let mut cargo = Command::new(env::var_os("CARGO").expect("cargo sets CARGO"));
    cargo
        .args(["build", "--release", "--locked", "--workspace", "--manifest-path"])
        .arg(crates.join("shim/Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        // Stacks are unwound through the shim. Processors that it runs on can save registers
        // compactly, and so can count bits in one instruction.
        .env("CARGO_ENCODED_RUSTFLAGS", "-Cforce-unwind-tables=yes\x1f-Ctarget-cpu=x86-64-v2")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env_remove("CARGO_BUILD_TARGET");
    let status = cargo.status().expect("cargo can be run");
    assert!(status.success(), "the shim cannot be built");
    for (variable, library) in
        [("EVERYPATH_SHIM", "libeverypath_shim.so"), ("EVERYPATH_TSAN", "libeverypath_tsan.so")]
    {
        println!("cargo::rustc-env={variable}={}", target.join("release").join(library).display());
    }
}
