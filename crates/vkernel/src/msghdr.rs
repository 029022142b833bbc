//! `sendmsg` and `recvmsg`: messages with a header.

use crate::host::Host;
use crate::iovec::Pieces;
use crate::object::Kind;
use crate::sockaddr::Address;
use crate::syscalls::this_socket;
use crate::{cmsg, errno, stop, stream, udp};

/// The kernel's `struct msghdr`.
const NAME: usize = 0;
const NAME_LENGTH: usize = 8;
/// Two words: where it is and how many.
const VECTOR: usize = 16;
const CONTROL: usize = 32;
const CONTROL_LENGTH: usize = 40;
const FLAGS: usize = 48;
/// The size of an entry of `sendmmsg` and `recvmmsg`.
const ENTRY: usize = 64;
const ENTRY_LENGTH: usize = 56;

fn pieces_of(k: &impl Host, header: usize) -> Result<Pieces, i32> {
    let [vector, count] = k.load(header + VECTOR)?;
    // Where `readv` says that the argument is wrong, this is too long a message.
    Pieces::several(k, vector, count).map_err(|error| match error {
        errno::EINVAL => errno::EMSGSIZE,
        other => other,
    })
}

/// Does what the system call does.
pub(crate) fn send(
    k: &impl Host,
    descriptor: i32,
    header: usize,
    flags: i32,
) -> Result<isize, i32> {
    let number = this_socket(k, descriptor)?;
    let [control, control_length] = k.load(header + CONTROL)?;
    if cmsg::has_others_than_addresses(k, control, control_length)? {
        stop!(k, "sendmsg with control messages (SCM_RIGHTS) is not modelled");
    }
    let name: usize = k.load(header + NAME)?;
    let length = k.load::<u32>(header + NAME_LENGTH)? as usize;
    match k.object(number).kind.get() {
        Kind::Datagram => {
            let to = if name == 0 { None } else { Some(Address::read(k, name, length)?) };
            udp::send(k, descriptor, pieces_of(k, header)?, to, flags)
        }
        _ => stream::send(k, descriptor, pieces_of(k, header)?, flags),
    }
}

/// Does what the system call does.
pub(crate) fn receive(
    k: &impl Host,
    descriptor: i32,
    header: usize,
    flags: i32,
) -> Result<isize, i32> {
    const TRUNCATED: i32 = 0x20;
    const CONTROL_TRUNCATED: i32 = 0x8;
    let number = this_socket(k, descriptor)?;
    let mut shown = 0;
    let got = match k.object(number).kind.get() {
        Kind::Datagram => {
            let got = udp::receive(k, descriptor, pieces_of(k, header)?, flags)?;
            let name: usize = k.load(header + NAME)?;
            if name != 0 {
                got.from.tell(k, name, header + NAME_LENGTH)?;
            }
            shown |= if got.is_truncated { TRUNCATED } else { 0 };
            let [control, room] = k.load(header + CONTROL)?;
            let told = cmsg::tell_destination(k, k.object(number), (control, room))?;
            shown |= if told.is_none() { CONTROL_TRUNCATED } else { 0 };
            k.store(header + CONTROL_LENGTH, told.unwrap_or(0))?;
            got.length as isize
        }
        _ => {
            k.store(header + NAME_LENGTH, 0u32)?;
            k.store(header + CONTROL_LENGTH, 0usize)?;
            stream::receive(k, descriptor, pieces_of(k, header)?, flags)?
        }
    };
    k.store(header + FLAGS, shown)?;
    Ok(got)
}

/// Does what the system calls do: as many messages as there are, or as can be sent.
pub(crate) fn several(
    k: &impl Host,
    (at, count): (usize, usize),
    mut each: impl FnMut(usize, usize) -> Result<isize, i32>,
) -> Result<isize, i32> {
    for index in 0..count.min(1024) {
        let entry = at + index * ENTRY;
        match each(entry, index) {
            Ok(length) => k.store(entry + ENTRY_LENGTH, length as u32)?,
            Err(error) if index == 0 => return Err(error),
            Err(_) => return Ok(index as isize),
        }
    }
    Ok(count.min(1024) as isize)
}
