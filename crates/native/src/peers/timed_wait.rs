//! Whether a blocked thread has a timeout.

use rustix::net::sockopt::{self, Timeout};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, Signal, pidfd_getfd, pidfd_open};
use std::fs;

/// Whether a thread waits for some time only, as far as its system call, its socket and what it
/// does about alarms tell.
pub(super) fn is_limited(process: u32, thread: u32) -> bool {
    let folder = format!("/proc/{process}/task/{thread}");
    let Ok(call) = fs::read_to_string(format!("{folder}/syscall")) else { return false };
    let Some(call) = Call::parse(&call) else { return false };
    call.has_limit() || call.socket().is_some_and(|socket| is_impatient(process, socket)) || {
        let status = fs::read_to_string(format!("{folder}/status")).unwrap_or_default();
        // A process without timeouts would have no use for alarms.
        call.waits_for_others() && handles_alarms(&status)
    }
}

/// Whether a process has set a timer that it can wait for as for a descriptor (`timerfd`).
pub(super) fn has_timers(process: u32) -> bool {
    let Ok(folder) = fs::read_dir(format!("/proc/{process}/fdinfo")) else { return false };
    let about = folder.filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok());
    about.into_iter().any(|text| {
        let left = text.lines().find_map(|line| line.strip_prefix("it_value: "));
        left.is_some_and(|left| left != "(0, 0)")
    })
}

/// A system call, as the kernel shows it.
struct Call {
    number: i64,
    arguments: Vec<u64>,
}

impl Call {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let number = words.next()?.parse().ok()?;
        let hexadecimal = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16);
        let arguments = words.map(|word| hexadecimal(word).unwrap_or(0)).collect();
        Some(Call { number, arguments })
    }

    fn argument(&self, at: usize) -> u64 {
        self.arguments.get(at).copied().unwrap_or(0)
    }

    /// Whether it was given a time.
    fn has_limit(&self) -> bool {
        // Milliseconds, of which less than 0 is for ever; or a pointer, which may be null.
        let milliseconds = |at: usize| self.argument(at) as i32 > 0;
        let pointer = |at: usize| self.argument(at) != 0;
        match self.number {
            7 => milliseconds(2),
            232 | 281 => milliseconds(3),
            23 | 270 => pointer(4),
            271 => pointer(2),
            202 | 441 => pointer(3),
            // `nanosleep` and `clock_nanosleep`.
            35 | 230 => true,
            _ => false,
        }
    }

    /// The descriptor that it receives from: `recvfrom`, `recvmsg`, `recvmmsg`, `read`.
    fn socket(&self) -> Option<i32> {
        matches!(self.number, 0 | 45 | 47 | 299).then(|| self.argument(0) as i32)
    }

    /// Whether an alarm would end it: it receives, polls or pauses.
    fn waits_for_others(&self) -> bool {
        self.socket().is_some() || matches!(self.number, 7 | 23 | 34 | 232 | 270 | 271 | 281)
    }
}

/// Whether a process gave a socket a time to receive in (`SO_RCVTIMEO`).
fn is_impatient(process: u32, socket: i32) -> bool {
    let Some(process) = Pid::from_raw(process as i32) else { return false };
    let copy = pidfd_open(process, PidfdFlags::empty())
        .and_then(|process| pidfd_getfd(process, socket, PidfdGetfdFlags::empty()));
    let limit = copy.and_then(|copy| sockopt::socket_timeout(copy, Timeout::Recv));
    limit.is_ok_and(|limit| limit.is_some())
}

/// Whether a process handles the signal of alarms, by what the kernel says of its signals.
fn handles_alarms(status: &str) -> bool {
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    caught >> (Signal::ALARM.as_raw() - 1) & 1 != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::AsRawFd;
    use std::time::Duration;

    #[test]
    fn limits_are_seen() {
        let has_limit = |text: &str| Call::parse(text).unwrap().has_limit();
        assert!(has_limit("7 0x7ffe 0x1 0x3e8 0x0"));
        assert!(!has_limit("7 0x7ffe 0x1 0xffffffff 0x0"));
        assert!(has_limit("230 0x0 0x0 0x7ffe 0x7ffe"));
        assert!(has_limit("23 0x5 0x1 0x0 0x0 0x7ffe"));
        assert!(handles_alarms("SigIgn:\t0\nSigCgt:\t0000000000002000\n"));
        assert!(!handles_alarms("SigCgt:\t0000000000001000\n"));
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let is_impatient = || is_impatient(std::process::id(), socket.as_raw_fd());
        assert!(!is_impatient());
        socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        assert!(is_impatient());
    }
}
