//! `getrandom`.

use crate::machine::Machine;
use everypath_vkernel::errno;
use everypath_vkernel::random::{fill, getrandom, next, take_stream};

const PAGE: usize = 4096;

fn bytes(machine: &Machine, length: usize) -> Vec<u8> {
    let at = machine.map(&vec![0; length]);
    assert_eq!(getrandom(machine, at, length, 0), Ok(length as isize));
    machine.bytes(at, length)
}

#[test]
fn the_same_calls_give_the_same_bytes() {
    let [one, other] = [(); 2].map(|()| Machine::new());
    assert_eq!(bytes(&one, 21), bytes(&other, 21));
    assert_eq!(next(&one), next(&other));
}

#[test]
fn later_bytes_differ() {
    let machine = Machine::new();
    assert_ne!(bytes(&machine, 16), bytes(&machine, 16));
}

#[test]
fn filling_is_reading() {
    let [one, other] = [(); 2].map(|()| Machine::new());
    let mut filled = [0; 19];
    fill(&one, &mut filled);
    assert_eq!(filled.to_vec(), bytes(&other, 19));
}

#[test]
fn streams_and_seeds_differ() {
    let of = |seed: u64, stream: u16| {
        let machine = Machine::new();
        let mut setup = machine.setup.get();
        setup.random_seed = seed;
        machine.setup.set(setup);
        take_stream(&machine, stream);
        next(&machine)
    };
    let mut values: Vec<u64> =
        [(1, 0), (1, 1), (2, 0), (2, 1)].into_iter().map(|(seed, at)| of(seed, at)).collect();
    values.sort_unstable();
    values.dedup();
    assert_eq!(values.len(), 4);
    assert_eq!(of(0, 0), of(1, 0));
}

#[test]
fn only_as_much_is_filled_as_there_is() {
    let machine = Machine::new();
    let at = machine.map(&[0; 1]);
    assert_eq!(getrandom(&machine, at + PAGE - 10, 20, 0), Ok(10));
    assert_eq!(getrandom(&machine, at + PAGE, 20, 0), Err(errno::EFAULT));
    assert_eq!(getrandom(&machine, at + PAGE, 0, 0), Ok(0));
}

#[test]
fn flags_are_checked() {
    let machine = Machine::new();
    let at = machine.map(&[0; 8]);
    for flags in [0, 1, 2, 3, 4, 5] {
        assert_eq!(getrandom(&machine, at, 8, flags), Ok(8), "{flags}");
    }
    for flags in [6, 7, 8] {
        assert_eq!(getrandom(&machine, at, 8, flags), Err(errno::EINVAL), "{flags}");
    }
}
