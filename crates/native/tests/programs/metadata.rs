//! What Rust's standard library asks about files: by `statx`, and by what it does to find out whether
//! there is one.

use std::fs;
use std::path::Path;

fn main() {
    let folder = std::env::args().nth(1).expect("a folder is given");
    let in_folder = |name: &str| Path::new(&folder).join(name);
    assert!(!in_folder("missing").exists());
    let missing = fs::metadata(in_folder("missing")).expect_err("it is not there");
    println!("{:?}", missing.kind());
    assert!(in_folder("missing").try_exists().is_ok_and(|exists| !exists));
    println!("{}", fs::metadata(&folder).expect("it is there").is_dir());
    fs::write(in_folder("made"), "text").expect("it can be written");
    let made = fs::metadata(in_folder("made")).expect("it is there");
    println!("{} {}", made.is_file(), made.len());
    assert!(made.created().is_ok() && made.modified().is_ok());
    fs::hard_link(in_folder("made"), in_folder("other")).expect("it can be linked");
    fs::remove_file(in_folder("made")).expect("it can be removed");
    println!("{:?}", fs::read_to_string(in_folder("other")).expect("it can be read"));
    fs::remove_file(in_folder("other")).expect("it can be removed");
    let shown: Vec<bool> = fs::read_dir(&folder)
        .expect("it can be listed")
        .map(|entry| entry.and_then(|entry| entry.metadata()).expect("it is there").is_file())
        .collect();
    println!("{shown:?} {}", std::env::current_dir().is_ok_and(|path| path.is_absolute()));
}
