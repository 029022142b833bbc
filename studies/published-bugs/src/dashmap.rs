//! dashmap, issue 369: two threads hold a reference to one entry and ask for another one, in opposite
//! order. With an argument the order is the same.

use dashmap::DashMap;
use std::sync::Arc;
use std::thread;

fn add(map: &DashMap<u32, u32>, from: u32, to: u32) {
    let from = map.get_mut(&from).unwrap();
    *map.get_mut(&to).unwrap() += *from;
}

fn main() {
    let map = Arc::new(DashMap::with_shard_amount(64));
    (0..8).for_each(|key| drop(map.insert(key, 1)));
    let shared = Arc::clone(&map);
    let other = thread::spawn(move || add(&shared, 1, 2));
    match std::env::args().len() {
        1 => add(&map, 2, 1),
        _ => add(&map, 1, 2),
    }
    other.join().unwrap();
}
