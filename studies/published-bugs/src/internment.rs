//! internment, RUSTSEC-2020-0017: one thread drops the last use of a value while another interns it.

use internment::ArcIntern;
use std::thread;

fn intern(text: &str) -> ArcIntern<String> {
    ArcIntern::new(text.to_string())
}

fn main() {
    // The table exists before anybody races for it.
    let _another = intern("another");
    let other = thread::spawn(|| drop(intern("value")));
    drop(intern("value"));
    other.join().unwrap();
    assert_eq!(intern("value").as_str(), "value");
}
