//! Every call that we stand in for does what libc's own does: the same program, by itself and under
//! control.

use crate::common::compile;
use crate::common::conforming::{conforms, conforms_given};
use crate::common::launching::launch;
use everypath_native::executions;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const C: [&str; 3] = ["-O1", "-g", "-pthread"];

#[test]
fn mutexes() {
    conforms("mutexes.c", &C);
}

#[test]
fn mutexes_that_inherit_priorities() {
    conforms("priorities.c", &C);
}

#[test]
fn read_write_locks() {
    conforms("rwlocks.c", &C);
}

#[test]
fn conditions_barriers_semaphores_and_spin_locks() {
    conforms("waiting.c", &C);
}

#[test]
fn threads() {
    conforms("threads.c", &C);
}

#[test]
fn threads_of_c11() {
    conforms("c11.c", &C);
}

#[test]
fn futexes() {
    conforms("futexes.c", &C);
}

#[test]
fn memory() {
    conforms("memory.c", &C);
}

#[test]
fn static_memory() {
    conforms("statics.c", &C);
}

#[test]
fn files() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let given = folder.path().join("given");
    fs::write(&given, "given text\n").expect("the folder is writable");
    let path = folder.path().to_str().expect("the folder's name is text");
    // Under control the program also changes, moves and removes the file that is there.
    conforms_given("files.c", &C, [&[path], &[path, "controlled"]]);
    let text = fs::read_to_string(&given).expect("the file is still there");
    assert_eq!(text, "given text\n");
    let files = fs::read_dir(folder.path()).expect("the folder can be listed");
    assert_eq!(files.count(), 1, "nothing else is left in the folder");
}

#[test]
fn copies_and_shared_mappings() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    fs::write(folder.path().join("given"), "given text\n").expect("the folder is writable");
    let path = folder.path().to_str().expect("the folder's name is text");
    conforms_given("copies.c", &C, [&[path], &[path]]);
}

#[test]
fn identities_and_owners() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    // Others must be able to look into it.
    let open = |path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    open(folder.path().to_path_buf(), 0o777).expect("the folder is ours");
    for (name, mode) in [("secret", 0o600), ("given", 0o644)] {
        fs::write(folder.path().join(name), "text\n").expect("the folder is writable");
        open(folder.path().join(name), mode).expect("the file is ours");
    }
    fs::create_dir(folder.path().join("folder")).expect("the folder is writable");
    let path = folder.path().to_str().expect("the folder's name is text");
    conforms_given("identity.c", &C, [&[path], &[path]]);
}

#[test]
fn bad_addresses() {
    conforms("faults.c", &[C[0], C[1], C[2], "-fno-delete-null-pointer-checks"]);
}

#[test]
fn metadata_of_files() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    fs::write(folder.path().join("given"), "given text\n").expect("the folder is writable");
    let path = folder.path().to_str().expect("the folder's name is text");
    conforms_given("metadata.rs", &["--edition=2024"], [&[path], &[path]]);
}

#[test]
fn process_control_limits_children_and_interfaces() {
    conforms("controls.c", &C);
}

#[test]
fn process() {
    // Under control a sleep takes exactly its time.
    conforms_given("process.c", &C, [&[], &["controlled"]]);
}

#[test]
fn signals() {
    conforms("signals.c", &C);
}

#[test]
fn posix_timers() {
    conforms("posix_timers.c", &C);
}

#[test]
fn alarms() {
    conforms("alarms.c", &C);
}

#[test]
fn cancelled_threads() {
    conforms("cancels.c", &C);
}

#[test]
fn datagrams() {
    conforms("datagrams.c", &C);
}

#[test]
fn sockets_of_both_kinds_at_once() {
    conforms("mixed.c", &C);
}

#[test]
fn epoll() {
    conforms("epolls.c", &C);
}

#[test]
fn events_and_timers() {
    conforms("events.c", &C);
}

#[test]
fn broadcast_and_multicast() {
    conforms("groups.c", &C);
}

#[test]
fn groups_of_the_newer_internet() {
    conforms("groups6.c", &C);
}

#[test]
fn messages() {
    conforms("messages.c", &C);
}

#[test]
fn names_of_hosts() {
    conforms("names.c", &C);
}

#[test]
fn sockets_that_do_not_wait() {
    conforms("nonblocking.c", &C);
}

#[test]
fn pipes() {
    conforms("pipes.c", &C);
}

#[test]
fn poll_and_select() {
    conforms("polling.c", &C);
}

#[test]
fn streams() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().to_str().expect("the folder's name is text");
    conforms_given("streams.c", &C, [&[path], &[path]]);
}

#[test]
fn rust() {
    conforms("std.rs", &["--edition=2024", "-Copt-level=2", "-g"]);
}

#[test]
fn cpp() {
    conforms("std.cpp", &["-std=c++20", "-O1", "-g", "-pthread"]);
}

#[test]
fn hash_maps_have_the_same_order_in_every_execution() {
    let compiled = compile("std.rs", &["--edition=2024", "-Copt-level=2"]);
    let launch = launch(&compiled, &["show the order"]);
    let executions = executions(&launch, 1).expect("it can be controlled");
    let shown: Vec<Vec<u8>> = executions
        .take(50)
        .map(|execution| execution.expect("it stays under control").stderr)
        .collect();
    assert!(shown[0].len() > 100, "{}", String::from_utf8_lossy(&shown[0]));
    assert!(shown.iter().all(|other| *other == shown[0]));
}
