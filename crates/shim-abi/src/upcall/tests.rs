use super::*;

#[test]
fn an_address_keeps_its_bytes() {
    for length in [0, 2, 16, MAX_ADDRESS] {
        let bytes = [7; MAX_ADDRESS];
        let address = SocketAddress::new(&bytes[..length]).expect("it fits");
        assert_eq!(address.as_bytes(), &bytes[..length]);
    }
    assert!(SocketAddress::new(&[0; MAX_ADDRESS + 1]).is_none());
}

#[test]
fn glances_survive_being_written() {
    let glances = [
        Glance::Connections(3),
        Glance::Bytes(1 << 20, false),
        Glance::Bytes(9, true),
        Glance::Datagrams(65_535),
    ];
    for glance in glances {
        assert_eq!(Glance::from_bytes(glance.to_bytes()), glance);
    }
}

#[test]
fn a_message_belongs_to_what_carries_bytes() {
    let step = |request| Upcall::Joint { thread: 1, step: 2, request };
    let written = Upcall::Peer(PeerRequest::Write { position: 4, length: 10 });
    assert_eq!(written.message_length(), 10);
    assert_eq!(Upcall::Peer(PeerRequest::Finish { position: 4 }).message_length(), 0);
    assert_eq!(step(JointRequest::Send { connection: 0, length: 5 }).message_length(), 5);
    let looks = JointRequest::Look { count: 2, waits: true };
    assert_eq!(step(looks).message_length(), 2 * Glance::LENGTH);
    assert_eq!(Upcall::Choose { thread: 1, way: 3 }.message_length(), 0);
}
