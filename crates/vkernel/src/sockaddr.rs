//! Socket addresses, as programs give them and are told them.

use crate::errno;
use crate::host::{Host, Thread};

use crate::address::LONGEST;
pub(crate) use crate::address::{Address, INET, INET6, UNIX};

impl Address {
    /// Reads what a program hands over.
    pub(crate) fn read(k: &impl Host, at: usize, length: usize) -> Result<Self, i32> {
        if !(2..=128).contains(&length) {
            return Err(errno::EINVAL);
        }
        let mut address = Address::default();
        let kept = length.min(LONGEST);
        k.read(at, &mut address.bytes[..kept])?;
        let needed = match address.family() {
            UNIX => 2,
            INET => 16,
            INET6 => 24,
            0 => 2,
            _ => return Err(errno::EAFNOSUPPORT),
        };
        if length < needed {
            return Err(errno::EINVAL);
        }
        address.length = match address.family() {
            INET => 16,
            INET6 => 28,
            _ => kept as u16,
        };
        if address.family() == UNIX && length > 2 && address.bytes[2] != 0 {
            // A path ends at its first zero, and is shown with it.
            let path = &address.bytes[2..kept];
            let end = path.iter().position(|&byte| byte == 0).unwrap_or(path.len());
            address.bytes[2 + end..].fill(0);
            address.length = (2 + end + 1).min(LONGEST) as u16;
        }
        if address.family() == INET {
            address.bytes[8..].fill(0);
        }
        Ok(address)
    }

    /// A free abstract name of a Unix socket, as the kernel chooses it: a number in five digits.
    pub(crate) fn abstract_name(
        k: &impl Host,
        is_taken: impl Fn(&Address) -> bool,
    ) -> Option<Self> {
        let name = |number: u16| {
            let mut address = Address::any(UNIX);
            for (place, byte) in address.bytes[3..8].iter_mut().rev().enumerate() {
                *byte = b"0123456789abcdef"[usize::from(number) >> (4 * place) & 0xf];
            }
            address.length = 8;
            address
        };
        ephemeral_port(k, |number| is_taken(&name(number))).map(name)
    }

    /// Tells the program, cut off where its space ends, as the kernel does.
    pub(crate) fn tell(&self, k: &impl Host, at: usize, length_at: usize) -> Result<(), i32> {
        if at == 0 || length_at == 0 {
            return Ok(());
        }
        let room = k.load::<u32>(length_at)? as usize;
        let length = usize::from(self.length);
        k.write(at, &self.bytes[..length.min(room)])?;
        k.store(length_at, length as u32)
    }

    /// The address of a group, as options name it: without a family.
    pub(crate) fn group(k: &impl Host, family: u16, at: usize) -> Result<Address, i32> {
        let mut group = Address::any(family);
        match family {
            INET => k.read(at, &mut group.bytes[4..8])?,
            _ => k.read(at, &mut group.bytes[8..24])?,
        }
        Ok(group)
    }
}

/// A port that follows from who asks and how many it has been given.
pub(crate) fn ephemeral_port(k: &impl Host, is_taken: impl Fn(u16) -> bool) -> Option<u16> {
    const FIRST: u16 = 32_768;
    const EACH: u16 = 220;
    let thread = k.current();
    for _ in 0..EACH {
        let count = thread.task().ports.get();
        thread.task().ports.set((count + 1) % EACH);
        let port = FIRST + thread.number() * EACH + count;
        if !is_taken(port) {
            return Some(port);
        }
    }
    None
}
