//! The model of the network on which combined histories are executed.

use super::{Answer, Link, Port, Readiness, Request, Watched};
use std::collections::{BTreeMap, VecDeque};
use std::vec::Vec;

/// What the other end did to a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Far {
    #[default]
    Open,
    /// It sends nothing any more.
    Finished,
    /// It broke the connection.
    Broken,
}

/// One end of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    /// The bytes that have come.
    inbox: VecDeque<u8>,
    far: Far,
    /// That the connection broke has not been told yet.
    breaks: bool,
    /// Whether it was the network that broke it.
    is_cut: bool,
    is_closed: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Listener {
    is_open: bool,
    backlog: usize,
    queue: VecDeque<Link>,
}

/// A port to which datagrams are sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Mailbox {
    is_open: bool,
    /// Where they must come from.
    only: Option<u16>,
    queue: VecDeque<(u16, Vec<u8>)>,
}

/// The network between programs, at one moment of an execution of all of them: what streams inside
/// one program do, between several.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Network {
    listeners: BTreeMap<Port, Listener>,
    /// Of each connection, the end that connected and the end that accepts.
    links: BTreeMap<Link, [End; 2]>,
    mailboxes: BTreeMap<u16, Mailbox>,
}

impl Network {
    fn end(&self, side: usize, link: Link) -> Option<&End> {
        self.links.get(&link).map(|ends| &ends[usize::from(link.side != side)])
    }

    fn far_end(&self, side: usize, link: Link) -> Option<&End> {
        self.links.get(&link).map(|ends| &ends[usize::from(link.side == side)])
    }

    /// Whether the other end of a connection is closed.
    fn is_gone(&self, side: usize, link: Link) -> bool {
        self.far_end(side, link).is_some_and(|far| far.is_closed)
    }

    /// What comes of a request of a side now; none if it has to wait.
    pub fn answer(&self, side: usize, request: &Request) -> Option<Answer> {
        match request {
            Request::Listen { .. } | Request::Unlisten { .. } => Some(Answer::Done),
            Request::Shut(_) | Request::Close(_) | Request::Break(_) => Some(Answer::Done),
            Request::Bind { .. } | Request::Unbind { .. } => Some(Answer::Done),
            Request::SendTo { from, to, .. } => {
                let Mailbox { is_open, only, .. } = self.mailboxes.get(to)?;
                let is_taken = *is_open && only.is_none_or(|only| only == *from);
                Some(if is_taken { Answer::Done } else { Answer::Lost })
            }
            Request::ReceiveFrom { port, .. } => {
                let first = self.mailboxes.get(port).and_then(|mailbox| mailbox.queue.front());
                let first = first.cloned().map(|(from, bytes)| Answer::Datagram { from, bytes });
                first.or_else(|| request.unaided())
            }
            Request::Connect(link) => match self.listeners.get(&link.port)? {
                listener if !listener.is_open => Some(Answer::Refused),
                // The kernel takes one more than it was asked for.
                listener => (listener.queue.len() <= listener.backlog).then_some(Answer::Done),
            },
            Request::Accept { port, .. } => {
                let queue = self.listeners.get(port).map(|listener| &listener.queue);
                let first = queue.and_then(VecDeque::front);
                first.map(|link| Answer::Accepted(*link)).or_else(|| request.unaided())
            }
            Request::Send { link, .. } => {
                match (self.end(side, *link)?, self.far_end(side, *link)?) {
                    (end, _) if end.breaks => Some(Answer::Reset),
                    (end, far) if far.is_closed || end.is_cut => Some(Answer::Lost),
                    _ => Some(Answer::Done),
                }
            }
            Request::Look { at, .. } => {
                let found: Vec<Readiness> = at.iter().map(|it| self.readiness(side, *it)).collect();
                match found.iter().all(|it| *it == Readiness::Waits) {
                    true => request.unaided(),
                    false => Some(Answer::Ready(found)),
                }
            }
            Request::Receive { link, most, .. } => {
                let end = self.end(side, *link)?;
                match end.far {
                    _ if !end.inbox.is_empty() => {
                        Some(Answer::Bytes(end.inbox.iter().take(*most).copied().collect()))
                    }
                    Far::Open => request.unaided(),
                    Far::Broken if end.breaks => Some(Answer::Reset),
                    Far::Finished | Far::Broken => Some(Answer::End),
                }
            }
        }
    }

    /// Whether this can come of a request of a side now.
    pub fn allows(&self, side: usize, request: &Request, answer: &Answer) -> bool {
        // Data sent on a reset connection may be lost before any call gets the error.
        let is_lost = match (request, answer) {
            (Request::Send { link, .. }, Answer::Lost) => {
                self.end(side, *link).is_some_and(|end| end.is_cut)
            }
            _ => false,
        };
        is_lost || self.answer(side, request).as_ref() == Some(answer)
    }

    /// The readiness of a polled object.
    fn readiness(&self, side: usize, watched: Watched) -> Readiness {
        match watched {
            Watched::Connections { port } => {
                let listener = self.listeners.get(&port);
                match listener.is_some_and(|listener| !listener.queue.is_empty()) {
                    true => Readiness::Input,
                    false => Readiness::Waits,
                }
            }
            Watched::Datagrams { port } => {
                let mailbox = self.mailboxes.get(&port);
                match mailbox.is_some_and(|mailbox| !mailbox.queue.is_empty()) {
                    true => Readiness::Input,
                    false => Readiness::Waits,
                }
            }
            Watched::Bytes { link, sees_end } => match self.end(side, link) {
                Some(End { far: Far::Broken, breaks: true, .. }) => Readiness::Broken,
                Some(_) if link.port.is_unix() && self.is_gone(side, link) => Readiness::Gone,
                Some(End { far: Far::Finished | Far::Broken, .. }) if sees_end => Readiness::End,
                Some(end) if end.far != Far::Open || !end.inbox.is_empty() => Readiness::Input,
                _ => Readiness::Waits,
            },
        }
    }

    /// Lets a request of a side happen, of which this comes.
    pub fn perform(&mut self, side: usize, request: &Request, answer: &Answer) {
        match (request, answer) {
            (Request::Listen { port, backlog }, _) => {
                let listener = self.listeners.entry(*port).or_default();
                (listener.is_open, listener.backlog) = (true, *backlog);
            }
            (Request::Unlisten { port }, _) => {
                let listener = self.listeners.entry(*port).or_default();
                listener.is_open = false;
                let waiting: Vec<Link> = listener.queue.drain(..).collect();
                waiting.into_iter().for_each(|link| self.close(link, 1));
            }
            (Request::Connect(link), Answer::Done) => {
                self.links.entry(*link).or_default();
                self.listeners.entry(link.port).or_default().queue.push_back(*link);
            }
            (Request::Accept { port, .. }, Answer::Accepted(_)) => {
                self.listeners.entry(*port).or_default().queue.pop_front();
            }
            (Request::Send { link, bytes }, Answer::Done) => {
                let far = usize::from(link.side == side);
                self.links.entry(*link).or_default()[far].inbox.extend(bytes);
            }
            (Request::Receive { link, .. }, Answer::Bytes(bytes)) => {
                let near = usize::from(link.side != side);
                self.links.entry(*link).or_default()[near].inbox.drain(..bytes.len());
            }
            (Request::Send { link, .. } | Request::Receive { link, .. }, Answer::Reset) => {
                let near = usize::from(link.side != side);
                self.links.entry(*link).or_default()[near].breaks = false;
            }
            (Request::Shut(link), _) => {
                let far = usize::from(link.side == side);
                let far = &mut self.links.entry(*link).or_default()[far].far;
                *far = (*far).max(Far::Finished);
            }
            (Request::Close(link), _) => self.close(*link, usize::from(link.side != side)),
            (Request::Bind { port, only }, _) => {
                let mailbox = self.mailboxes.entry(*port).or_default();
                (mailbox.is_open, mailbox.only) = (true, *only);
            }
            (Request::Unbind { port }, _) => {
                let mailbox = self.mailboxes.entry(*port).or_default();
                *mailbox = Mailbox::default();
            }
            (Request::SendTo { from, to, bytes }, Answer::Done) => {
                let queue = &mut self.mailboxes.entry(*to).or_default().queue;
                queue.push_back((*from, bytes.clone()));
            }
            (Request::ReceiveFrom { port, .. }, Answer::Datagram { .. }) => {
                self.mailboxes.entry(*port).or_default().queue.pop_front();
            }
            (Request::Break(link), _) => {
                let ends = self.links.entry(*link).or_default();
                ends[usize::from(link.side != side)].inbox.clear();
                for end in ends.iter_mut().filter(|end| !end.is_closed) {
                    (end.far, end.breaks, end.is_cut) = (Far::Broken, true, true);
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, link: Link, near: usize) {
        let ends = self.links.entry(link).or_default();
        let leaves_bytes = !ends[near].inbox.is_empty();
        ends[near].is_closed = true;
        ends[near].inbox.clear();
        let far = &mut ends[1 - near];
        if far.is_closed {
            return;
        }
        if leaves_bytes {
            (far.far, far.breaks) = (Far::Broken, true);
        } else {
            far.far = far.far.max(Far::Finished);
        }
    }
}
