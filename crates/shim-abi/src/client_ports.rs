//! Clients that send datagrams to a program. It knows them by ports: some for each client.

const FIRST: u16 = 61_000;
const EACH: u16 = 8;
/// How many clients there may be.
pub const MOST: usize = 16;

/// The port of a client's socket, both counted from 0; none if there are too many of either.
pub const fn port(client: u16, source: u16) -> Option<u16> {
    if client < MOST as u16 && source < EACH { Some(FIRST + client * EACH + source) } else { None }
}

/// Which client has a port, if one may have it.
pub const fn client(port: u16) -> Option<usize> {
    if port < FIRST || port >= FIRST + MOST as u16 * EACH {
        return None;
    }
    Some((port - FIRST) as usize / EACH as usize)
}

/// Which socket of its client a port is.
pub const fn source(port: u16) -> u16 {
    port.wrapping_sub(FIRST) % EACH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_tell_whose_they_are() {
        for (number, which) in [(0, 0), (0, 7), (1, 0), (15, 7)] {
            let port = port(number, which).unwrap();
            assert_eq!((client(port), source(port)), (Some(number.into()), which));
        }
        assert_eq!((port(16, 0), port(0, 8)), (None, None));
        assert_eq!((client(FIRST - 1), client(FIRST + 128)), (None, None));
    }
}
