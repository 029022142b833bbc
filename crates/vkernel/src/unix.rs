//! `socketpair`: two Unix sockets that are connected to each other.

use crate::host::Host;
use crate::lifetime::make;
use crate::object::Kind;
use crate::sockaddr::{Address, UNIX};
use crate::tcp::join;

/// Does what the system call does.
pub(crate) fn pair(k: &impl Host, kind: Kind, flags: i32, at: usize) -> Result<isize, i32> {
    let (one, first) = make(k, kind, flags)?;
    let (other, second) = make(k, kind, flags)?;
    for number in [one, other] {
        k.object(number).family.set(UNIX);
        k.object(number).local.set(Address::any(UNIX));
        k.object(number).foreign.set(Address::any(UNIX));
    }
    join(k, one, other);
    k.store(at, [first as i32, second as i32])?;
    Ok(0)
}
