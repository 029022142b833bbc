//! Quiescence: whether all threads of a process and its descendants are blocked.
//!
//! A thread is at rest if it is blocked in a system call that ends by something from outside, or by
//! a time-out that goes with it. One look proves nothing, since threads are looked at one after the
//! other. Two equal looks do: the kernel counts the nanoseconds that a thread has run, so if no
//! count changed, all threads rested from the end of the first look to the start of the second.
//!
//! A thread that was woken has not run until a processor takes it, which may be a while. Only its
//! state tells that it will: what the kernel says of its system call is still the call it waited
//! in.

use super::timed_wait;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// What one look shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Some thread runs, or will by itself.
    Busy,
    /// All threads are at rest; how long each one has run.
    Resting(BTreeMap<u32, u64>),
    /// There is no thread.
    Gone,
    /// We may not look.
    Blind,
}

/// The processes that are watched.
#[derive(Debug)]
pub(super) struct Watch {
    /// These, and all that descend from them.
    roots: BTreeSet<u32>,
    /// The threads that were looked at, as far as they are known not to have ended.
    threads: BTreeMap<u32, Thread>,
}

/// Open files of a thread, since opening costs more than reading.
#[derive(Debug)]
struct Thread {
    state: File,
    syscall: File,
    time: File,
    children: File,
    /// How long it had waited for a processor when that was asked last.
    starved: Duration,
}

/// What a thread does.
enum Doing {
    Runs,
    Rests,
    Ended,
}

impl Watch {
    pub(super) fn new(root: u32) -> Self {
        Watch { roots: BTreeSet::from([root]), threads: BTreeMap::new() }
    }

    /// Watches another process as well.
    pub(super) fn add(&mut self, root: u32) {
        self.roots.insert(root);
    }

    /// Looks at every thread once, or until one runs.
    pub(super) fn look(&mut self) -> Look {
        let mut waiting: Vec<u32> = self.roots.iter().copied().collect();
        let mut times = BTreeMap::new();
        while let Some(process) = waiting.pop() {
            // A process that ended in the meantime has no threads.
            for number in threads_of(process) {
                let Some(thread) = self.thread(process, number) else { continue };
                match thread.doing() {
                    Ok(Doing::Rests) => {}
                    Ok(Doing::Runs) => return Look::Busy,
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                        return Look::Blind;
                    }
                    Ok(Doing::Ended) | Err(_) => continue,
                }
                let Some(time) = thread.time() else { return Look::Busy };
                waiting.extend(thread.children());
                times.insert(number, time);
            }
        }
        self.threads.retain(|number, _| times.contains_key(number));
        if times.is_empty() { Look::Gone } else { Look::Resting(times) }
    }

    /// The threads that wait for some time only, each with how long it has run.
    pub(super) fn timed(&self) -> BTreeMap<u32, u64> {
        let processes = self.processes().into_iter();
        let threads = processes.flat_map(|process| {
            let has_timers = timed_wait::has_timers(process);
            let limited =
                move |number: &u32| has_timers || timed_wait::is_limited(process, *number);
            threads_of(process).into_iter().filter(limited).map(move |number| (process, number))
        });
        let time = |(process, number)| Some((number, open(process, number)?.time()?));
        threads.filter_map(time).collect()
    }

    /// For how long a thread had to wait for a processor since this was asked last: the longest of
    /// all that were seen.
    pub(super) fn starved(&mut self) -> Duration {
        self.threads.values_mut().map(Thread::starved_more).max().unwrap_or_default()
    }

    fn thread(&mut self, process: u32, number: u32) -> Option<&Thread> {
        match self.threads.entry(number) {
            Entry::Occupied(entry) => Some(entry.into_mut()),
            Entry::Vacant(entry) => Some(entry.insert(open(process, number)?)),
        }
    }

    /// The processes there are now.
    pub(super) fn processes(&self) -> Vec<u32> {
        let mut waiting: Vec<u32> = self.roots.iter().copied().collect();
        let mut all = Vec::new();
        while let Some(process) = waiting.pop() {
            let threads = threads_of(process);
            let children = |number| open(process, number).map(|thread| thread.children());
            waiting.extend(threads.iter().filter_map(|&number| children(number)).flatten());
            if !threads.is_empty() {
                all.push(process);
            }
        }
        all
    }
}

impl Thread {
    /// What it does; to be asked before how long it has run.
    fn doing(&self) -> io::Result<Doing> {
        let mut buffer = [0; 512];
        let stat = read(&self.state, &mut buffer)?;
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
        match state {
            Some('S') => {}
            Some('Z' | 'X') | None => return Ok(Doing::Ended),
            // It runs, or will soon: it was woken, or waits for a disk.
            Some(_) => return Ok(Doing::Runs),
        }
        let mut buffer = [0; 128];
        let call = read(&self.syscall, &mut buffer)?.split_whitespace().next();
        // None but a number says that it is in a call.
        let call = call.and_then(|call| call.parse::<i64>().ok()).filter(|&call| call >= 0);
        Ok(match call {
            Some(_) => Doing::Rests,
            None => Doing::Runs,
        })
    }

    /// The nanoseconds it has run.
    fn time(&self) -> Option<u64> {
        self.nanoseconds(0)
    }

    /// How long it waited for a processor since this was asked last.
    fn starved_more(&mut self) -> Duration {
        let now = self.nanoseconds(1).map_or(self.starved, Duration::from_nanos);
        now.saturating_sub(std::mem::replace(&mut self.starved, now))
    }

    /// One of the numbers that the kernel keeps of its time: having run, and having waited to.
    fn nanoseconds(&self, which: usize) -> Option<u64> {
        let mut buffer = [0; 128];
        read(&self.time, &mut buffer).ok()?.split_whitespace().nth(which)?.parse().ok()
    }

    fn children(&self) -> Vec<u32> {
        let mut buffer = [0; 4096];
        let text = read(&self.children, &mut buffer).unwrap_or_default();
        text.split_whitespace().filter_map(|number| number.parse().ok()).collect()
    }
}

fn open(process: u32, number: u32) -> Option<Thread> {
    let file = |name| File::open(format!("/proc/{process}/task/{number}/{name}")).ok();
    Some(Thread {
        state: file("stat")?,
        syscall: file("syscall")?,
        time: file("schedstat")?,
        children: file("children")?,
        starved: Duration::ZERO,
    })
}

fn threads_of(process: u32) -> Vec<u32> {
    let Ok(folder) = fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// All of a small file of the kernel's, read anew.
fn read<'b>(file: &File, buffer: &'b mut [u8]) -> io::Result<&'b str> {
    let length = file.read_at(buffer, 0)?;
    Ok(std::str::from_utf8(&buffer[..length]).unwrap_or_default())
}

/// The process that has a socket open, as far as we may see.
pub(super) fn owner(inode: u64) -> Option<u32> {
    let folders = fs::read_dir("/proc").ok()?;
    let mut processes =
        folders.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    processes.find(|&process| has_open(process, inode))
}

/// Whether a process has a socket open.
pub(super) fn has_open(process: u32, inode: u64) -> bool {
    let name = format!("socket:[{inode}]");
    sockets(process).contains(&name)
}

/// The sockets that a process has open, as the kernel names them.
fn sockets(process: u32) -> Vec<String> {
    let Ok(folder) = fs::read_dir(format!("/proc/{process}/fd")) else { return Vec::new() };
    let targets = folder.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    targets.filter_map(|target| Some(target.to_str()?.to_string())).collect()
}

/// Whether a process listens anywhere.
pub(super) fn listens(process: u32) -> bool {
    let open = sockets(process);
    let all = tcp_listeners().into_iter().map(|(_, inode)| inode).chain(unix_listeners());
    let all = all.chain(datagram_receivers());
    all.into_iter().any(|inode| open.contains(&format!("socket:[{inode}]")))
}

/// The ports on which somebody listens, with the numbers of the sockets.
pub(super) fn tcp_listeners() -> Vec<(u16, u64)> {
    const LISTENS: &str = "0A";
    let rows = table("tcp").into_iter().chain(table("tcp6"));
    let listeners = rows.filter(|row| row.get(3).is_some_and(|state| state == LISTENS));
    let entry = |row: Vec<String>| {
        let port = u16::from_str_radix(row[1].rsplit(':').next()?, 16).ok()?;
        Some((port, row.get(9)?.parse().ok()?))
    };
    listeners.filter_map(entry).collect()
}

/// The numbers of the sockets that datagrams can be sent to.
fn datagram_receivers() -> Vec<u64> {
    let rows = table("udp").into_iter().chain(table("udp6"));
    rows.filter_map(|row| row.get(9)?.parse().ok()).collect()
}

/// Whether anybody receives datagrams at a port.
pub(super) fn is_received_at(port: u16) -> bool {
    let rows = table("udp").into_iter().chain(table("udp6"));
    let mut ports =
        rows.filter_map(|row| u16::from_str_radix(row.get(1)?.rsplit(':').next()?, 16).ok());
    ports.any(|it| it == port)
}

fn unix_listeners() -> Vec<u64> {
    const LISTENS: &str = "00010000";
    let listeners =
        table("unix").into_iter().filter(|row| row.get(3).is_some_and(|flags| flags == LISTENS));
    listeners.filter_map(|row| row.get(6)?.parse().ok()).collect()
}

/// One of the kernel's tables of sockets, as words.
fn table(name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/net/{name}")).unwrap_or_default();
    text.lines().map(|line| line.split_whitespace().map(String::from).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::thread;

    /// However long it takes until a processor has time for it.
    #[test]
    fn a_thread_that_was_woken_does_not_rest() {
        let (mut near, mut far) = UnixStream::pair().unwrap();
        let echo = thread::spawn(move || {
            let path = fs::read_link("/proc/thread-self").unwrap();
            let number: u32 = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
            far.write_all(&number.to_ne_bytes()).unwrap();
            let mut letter = [0];
            while far.read_exact(&mut letter).is_ok() {
                far.write_all(&letter).unwrap();
            }
        });
        let mut number = [0; 4];
        near.read_exact(&mut number).unwrap();
        let thread = open(std::process::id(), u32::from_ne_bytes(number)).unwrap();
        let look = || (matches!(thread.doing().unwrap(), Doing::Rests), thread.time());
        for _ in 0..1000 {
            let mut before = look();
            while !before.0 {
                before = look();
            }
            near.write_all(b"x").unwrap();
            assert_ne!(look(), before, "it was woken, and has not run");
            near.read_exact(&mut [0]).unwrap();
        }
        drop(near);
        echo.join().unwrap();
    }
}
