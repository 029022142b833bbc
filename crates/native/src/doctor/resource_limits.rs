//! The resource limits of this process (`ulimit`), which programs under test inherit.

use super::{Finding, Lack};
use crate::error::Error;
use everypath_commtree::Memory;
use everypath_shim_abi::{Region, reserved_fds};
use rustix::process::{Resource, getrlimit};

/// A limit, and what is needed of it.
struct Need {
    resource: Resource,
    subject: &'static str,
    /// How a shell shows and sets it.
    option: &'static str,
    least: u64,
    meaning: &'static str,
    remedy: &'static str,
}

/// Most of what is mapped in a program is never used: its heap has an arena for each thread.
const ADDRESS_SPACE: u64 = 1 << 40;
/// A program has its stack elsewhere under control; this is for its loader, and for the checker.
const STACK: u64 = 1 << 20;

const NEEDS: [Need; 5] = [
    Need {
        resource: Resource::As,
        subject: "limit of address space",
        option: "-v",
        least: ADDRESS_SPACE,
        meaning: "the heap of a program cannot be laid out",
        remedy: "raise it: ulimit -v unlimited (--max-memory bounds what is really used)",
    },
    Need {
        resource: Resource::Data,
        subject: "limit of data size",
        option: "-d",
        least: ADDRESS_SPACE,
        meaning: "the heap of a program cannot be laid out",
        remedy: "raise it: ulimit -d unlimited (--max-memory bounds what is really used)",
    },
    Need {
        resource: Resource::Nofile,
        subject: "limit of open files",
        option: "-n",
        least: reserved_fds::SHIM as u64 + 1,
        meaning: "files cannot be handed to a program",
        remedy: "raise it: ulimit -n 1024",
    },
    Need {
        resource: Resource::Stack,
        subject: "limit of stack size",
        option: "-s",
        least: STACK,
        meaning: "the stack is too small",
        remedy: "raise it: ulimit -s 8192",
    },
    Need {
        resource: Resource::Fsize,
        subject: "limit of file size",
        option: "-f",
        least: largest_file(),
        meaning: "no memory can be shared with a program",
        remedy: "raise it: ulimit -f unlimited",
    },
];

/// The largest of the files in memory by which the checker shares memory with a program.
const fn largest_file() -> u64 {
    let (region, trees) = (size_of::<Region>(), size_of::<Memory>());
    (if region > trees { region } else { trees }) as u64
}

impl Need {
    /// What the limit is, if it is too low.
    fn shortage(&self) -> Option<u64> {
        getrlimit(self.resource).current.filter(|&limit| limit < self.least)
    }

    fn finding(&self) -> Finding {
        match (self.shortage(), getrlimit(self.resource).current) {
            (Some(limit), _) => {
                Finding::new(self.subject, format!("{limit} (ulimit {})", self.option))
                    .lacking(Lack { meaning: self.meaning, remedy: self.remedy, essential: true })
            }
            (None, Some(limit)) => Finding::new(self.subject, limit.to_string()),
            (None, None) => Finding::new(self.subject, "none"),
        }
    }
}

/// A line for each limit.
pub(super) fn findings() -> impl Iterator<Item = Finding> {
    NEEDS.iter().map(Need::finding)
}

/// Refuses to start a program under a limit that is too low.
pub(crate) fn ensure() -> Result<(), Error> {
    let short = NEEDS.iter().find_map(|need| Some((need, need.shortage()?)));
    match short {
        None => Ok(()),
        Some((Need { subject, option, meaning, remedy, .. }, limit)) => Err(Error::Uncontrolled(
            format!("the {subject} (ulimit {option}) is {limit}: {meaning}; {remedy}"),
        )),
    }
}

/// Whether the stack is so small that not even the command line can be read: what to say then.
pub fn stack_shortage() -> Option<String> {
    let need = NEEDS.iter().find(|need| need.option == "-s")?;
    let limit = need.shortage()?;
    Some(format!("the {} (ulimit {}) is {limit}; {}", need.subject, need.option, need.remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_has_a_line() {
        let subjects: Vec<&str> = findings().map(|finding| finding.subject).collect();
        assert_eq!(subjects.len(), NEEDS.len());
        assert!(subjects.iter().all(|subject| subject.starts_with("limit of ")));
    }
}
