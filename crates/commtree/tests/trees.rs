//! One tree at a time: what the papers' examples and the corners of the interface do.

use everypath_commtree::{
    End, Error, Lookup, Memory, Mode, Name, Opening, Position, Reader, Sent, Space, Take,
};

type Small = Space<16, 64, 256>;

const NAME: Name = Name([0, 0, 0, 1]);

/// A tree whose peer sends nothing before it is asked.
fn opened() -> (Box<Small>, Position) {
    let memory = Box::new(Small::empty());
    let root = memory.open(NAME).unwrap();
    memory.answer(root, root, b"", End::Open).unwrap();
    (memory, root)
}

fn add(memory: &Small, from: Position, sent: &[u8], response: &[u8]) -> Position {
    let at = memory.grow(from, Sent::Bytes(sent), Mode::Branching).unwrap();
    memory.answer(from, at, response, End::Open).unwrap();
    at
}

fn readable(memory: &Small, reader: Reader, at: Position) -> Vec<u8> {
    let mut out = vec![0; memory.readable(reader, at) as usize];
    let mut peeking = reader;
    memory.read(&mut peeking, at, &mut out, Take::Peek);
    assert_eq!(peeking, reader);
    out
}

/// Section 2.3 of 2008: after half a request, the response must not be readable, although it was
/// cached when the whole request was sent.
#[test]
fn half_a_request_has_no_response() {
    let (memory, root) = opened();
    let whole = add(&memory, root, b"GET\n", b"page");
    assert_eq!(memory.write(root, Sent::Bytes(b"GE")), Lookup::Miss);
    let half = add(&memory, root, b"GE", b"");
    assert_eq!(readable(&memory, Reader::default(), half), b"");
    assert_eq!(memory.write(half, Sent::Bytes(b"T\n")), Lookup::Hit(whole));
    assert_eq!(readable(&memory, Reader::default(), whole), b"page");
    assert_eq!(memory.write(root, Sent::Bytes(b"GET\n")), Lookup::Hit(whole));
}

/// Figure 7 of 2008: after going back to the first request, only the first response is there.
#[test]
fn a_later_response_is_not_visible_earlier() {
    let (memory, root) = opened();
    let one = add(&memory, root, b"1", b"A");
    let two = add(&memory, one, b"2", b"B");
    let mut reader = Reader::default();
    assert_eq!(readable(&memory, reader, two), b"AB");
    let mut out = [0; 8];
    assert_eq!(memory.read(&mut reader, one, &mut out, Take::Read), 1);
    assert_eq!(memory.read(&mut reader, one, &mut out, Take::Read), 0);
    assert_eq!(memory.read(&mut reader, two, &mut out, Take::Read), 1);
    assert_eq!(out[0], b'B');
}

/// A reader that lags keeps its place when an edge that it is on is split.
#[test]
fn a_split_moves_no_reader() {
    let (memory, root) = opened();
    let at = add(&memory, root, b"abcd", b"1234");
    let mut reader = Reader::default();
    memory.read(&mut reader, at, &mut [0; 3], Take::Read);
    let middle = add(&memory, root, b"ab", b"12");
    let other = add(&memory, root, b"abx", b"12x");
    assert_eq!(readable(&memory, reader, at), b"4");
    assert_eq!(readable(&memory, Reader(1), middle), b"2");
    assert_eq!(readable(&memory, Reader::default(), other), b"12x");
    assert_eq!((memory.sent(middle), memory.sent(at), memory.received(at)), (2, 4, 4));
}

#[test]
fn half_closing_is_an_edge() {
    let (memory, root) = opened();
    assert_eq!(memory.write(root, Sent::End), Lookup::Miss);
    let shut = memory.grow(root, Sent::End, Mode::Branching).unwrap();
    memory.answer(root, shut, b"bye", End::Closed).unwrap();
    let on = add(&memory, root, b"a", b"");
    assert_eq!(memory.write(root, Sent::End), Lookup::Hit(shut));
    assert_eq!(memory.write(root, Sent::Bytes(b"a")), Lookup::Hit(on));
    // What the peer closed is open to a program that has not read everything.
    assert_eq!(memory.end(Reader(2), shut), End::Open);
    assert_eq!(memory.end(Reader(3), shut), End::Closed);
    assert_eq!(memory.end(Reader(0), on), End::Open);
}

#[test]
fn connections_are_found_by_name() {
    let memory = Box::new(Small::empty());
    let names: Vec<Name> = (0..14).map(|number| Name([number, 0, number % 3, 9])).collect();
    assert_eq!(memory.find(names[0]), None);
    for (number, &name) in names.iter().enumerate() {
        if number % 2 == 0 {
            memory.open(name).unwrap();
        } else {
            memory.refuse(name).unwrap();
        }
    }
    for (number, &name) in names.iter().enumerate() {
        match memory.find(name) {
            Some(Opening::Open(at)) => assert!(number % 2 == 0 && memory.name(at) == name),
            Some(Opening::Refused) => assert!(number % 2 == 1),
            None => panic!("{name:?} is lost"),
        }
    }
    assert_eq!(memory.open(Name([99; 4])), Err(Error::Full));
    memory.clear();
    assert_eq!(memory.find(names[0]), None);
    assert!(memory.open(Name([99; 4])).is_ok());
}

#[test]
fn a_linear_cache_refuses_to_branch() {
    let (memory, root) = opened();
    let linear = |sent| memory.grow(root, sent, Mode::Linear);
    let at = linear(Sent::Bytes(b"hello")).unwrap();
    assert_eq!(linear(Sent::Bytes(b"help")), Err(Error::Branches { expected: at, same: 3 }));
    assert_eq!(linear(Sent::End), Err(Error::Branches { expected: at, same: 0 }));
    // Less than before, and more than before, is the same history.
    let half = linear(Sent::Bytes(b"he")).unwrap();
    assert!(linear(Sent::Bytes(b"hello you")).is_ok());
    assert_eq!(linear(Sent::Bytes(b"hex")), Err(Error::Branches { expected: at, same: 0 }));
    assert_eq!(memory.parent(at), Some(half));
}

/// The same history must be answered alike, however it is cut into writes.
#[test]
fn answers_that_differ_are_noticed() {
    let (memory, root) = opened();
    let at = add(&memory, root, b"ab", b"12");
    assert_eq!(memory.answer(root, at, b"12", End::Open), Ok(()));
    assert_eq!(memory.answer(root, root, b"", End::Open), Ok(()));
    let greeting = Err(Error::Differs { known: root });
    assert_eq!(memory.answer(root, root, b"hi", End::Open), greeting);
    let differs = Err(Error::Differs { known: at });
    assert_eq!(memory.answer(root, at, b"13", End::Open), differs);
    assert_eq!(memory.answer(root, at, b"1", End::Open), differs);
    assert_eq!(memory.answer(root, at, b"123", End::Open), differs);
    assert_eq!(memory.answer(root, at, b"12", End::Closed), differs);
    let middle = memory.grow(root, Sent::Bytes(b"a"), Mode::Branching).unwrap();
    assert_eq!(memory.answer(root, middle, b"2", End::Open), differs);
    assert_eq!(memory.answer(root, middle, b"12", End::Closed), differs);
    assert_eq!(memory.answer(root, middle, b"1", End::Open), Ok(()));
    // Through a known position: what was answered there comes first.
    let more = memory.grow(root, Sent::Bytes(b"abc"), Mode::Branching).unwrap();
    assert_eq!(memory.answer(root, more, b"19", End::Open), differs);
    assert_eq!(memory.answer(root, more, b"129", End::Open), Ok(()));
    assert_eq!(readable(&memory, Reader(1), more), b"29");
}

#[test]
fn running_out_of_memory_is_an_error() {
    let (memory, root) = opened();
    assert_eq!(memory.grow(root, Sent::Bytes(&[7; 257]), Mode::Branching), Err(Error::Full));
    let mut at = root;
    let full = loop {
        match memory.grow(at, Sent::Bytes(b"x"), Mode::Branching) {
            Ok(next) => at = next,
            Err(error) => break error,
        }
    };
    assert_eq!((full, memory.sent(at)), (Error::Full, 62));
    let written = memory.grow(root, Sent::Bytes(b"xxx"), Mode::Branching).unwrap();
    assert_eq!(memory.answer(root, written, &[1; 256], End::Open), Err(Error::Full));
    assert!(!memory.known(written));
}

/// Most of it is never touched, but its addresses must fit beside the program's.
#[test]
fn the_memory_has_a_sane_size() {
    assert!(size_of::<Memory>() < 1 << 28);
}
