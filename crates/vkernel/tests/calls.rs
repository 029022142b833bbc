//! Sequences of calls, made here and to the kernel of the machine.
//!
//! A call names descriptors by the order in which they were made; all of them are non-blocking.

/// What a call comes to.
pub(crate) type Outcome = Result<Value, i32>;

/// What a call returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Number(u64),
    Bytes(Vec<u8>),
    /// Bytes, and the descriptor that they came from.
    From(Vec<u8>, Option<usize>),
    /// What is ready, each with the descriptor.
    Events(Vec<(usize, u32)>),
}

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// Two descriptors: to read from and to write to.
    Pipe,
    Eventfd(u32),
    Semaphore(u32),
    /// Two descriptors: connected Unix sockets.
    StreamPair,
    DatagramPair,
    Tcp,
    Udp,
    Unix,
    UnixDatagram,
    /// To an address that the kernel chooses.
    Bind(usize),
    Listen(usize, i32),
    /// To the address that another descriptor was bound to.
    Connect(usize, usize),
    Accept(usize),
    Read(usize, usize),
    Write(usize, usize),
    /// So many bytes in two pieces.
    WriteVector(usize, usize),
    ReadVector(usize, usize),
    /// Adds to a counter.
    Add(usize, u64),
    Send(usize, usize),
    SendTo(usize, usize, usize),
    Receive(usize, usize),
    Peek(usize, usize),
    /// `MSG_TRUNC`: the real length.
    ReceiveTruncated(usize, usize),
    ReceiveFrom(usize, usize),
    Shutdown(usize, i32),
    Close(usize),
    Dup(usize),
    /// Everything that `poll` can say.
    Poll(usize),
    /// `FIONREAD`.
    Unread(usize),
    /// `F_GETFL`, as far as it says how it is open.
    Flags(usize),
    /// Whether there is somebody at the other end.
    PeerName(usize),
    /// `SO_ERROR`, `SO_ACCEPTCONN`, `SO_TYPE`.
    Option(usize, OptionName),
    /// A file of [`LENGTH`](crate::machine::LENGTH) bytes without a hole, open to be read and written.
    File,
    /// The file of a descriptor, opened once more.
    Again(usize),
    /// `flock`, which never waits: 1 shared, 2 exclusive, 8 unlocked.
    Lock(usize, i32),
    Seek(usize, i64, i32),
    Epoll,
    /// Events to wait for.
    EpollAdd(usize, usize, u32),
    EpollModify(usize, usize, u32),
    EpollDelete(usize, usize),
    EpollWait(usize, usize),
}

/// An option of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionName {
    Error,
    Accepts,
    Type,
}

pub(crate) const IN: u32 = 1;
pub(crate) const OUT: u32 = 4;
pub(crate) const READ_HANG_UP: u32 = 0x2000;
pub(crate) const EDGE: u32 = 1 << 31;
pub(crate) const ONE_SHOT: u32 = 1 << 30;
/// What a poll asks for.
pub(crate) const ALL: u32 = IN | 2 | OUT | 0x40 | 0x100 | READ_HANG_UP;

/// Makes calls.
pub(crate) trait Kernel {
    /// Makes a call. If others have an outcome already, and this kernel is slower, it may wait for
    /// the same.
    fn call(&mut self, call: Call, expected: Option<&Outcome>) -> Outcome;
}

/// The bytes that are sent: all different, for a while.
#[derive(Debug, Default)]
pub(crate) struct Content(u8);

impl Content {
    pub(crate) fn next(&mut self, length: usize) -> Vec<u8> {
        (0..length)
            .map(|_| {
                self.0 = self.0.wrapping_add(1);
                self.0
            })
            .collect()
    }
}

/// Makes the same calls here and to the kernel of the machine.
pub(crate) fn compare(calls: &[Call]) {
    let mut model = crate::model::Model::new();
    let mut kernel = crate::kernel::Machine::new();
    for (at, &call) in calls.iter().enumerate() {
        let here = model.call(call, None);
        let there = kernel.call(call, Some(&here));
        assert_eq!(here, there, "{call:?}, call {at} of {calls:?}: the model, then the kernel");
    }
}

/// Tests that make the same calls here and to the kernel of the machine.
macro_rules! same {
    ($($name:ident: [$($call:expr),* $(,)?];)*) => {
        $(#[test]
        fn $name() {
            crate::calls::compare(&[$($call),*]);
        })*
    };
}
pub(crate) use same;
