//! Whether the other processes are alive: each says so twice a second, and how far it has come, says when
//! it is done, and passes on that it was asked to stop.

use crate::gauges::{Gauges, LEN};
use crate::handshake::Socket;
use everypath_explore::Control;
use std::io::{ErrorKind, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;
use timely::communication::allocator::zero_copy::stream::Stream;

/// How often a process says that it is alive.
const BEAT: Duration = Duration::from_millis(500);

const ALIVE: u8 = b'.';
const STOP: u8 = b's';
const DONE: u8 = b'd';

/// Says that this process is alive, until it is dropped; then that it is done.
pub(crate) struct Watched {
    writers: Vec<(Sender<()>, thread::JoinHandle<()>)>,
}

/// Watches other processes; `lost` is told the number of one that is gone, and why it is thought so.
pub(crate) fn watch(
    peers: Vec<(usize, Socket)>,
    patience: Duration,
    (control, gauges): (&Control, &Gauges),
    lost: impl Fn(usize, String) + Clone + Send + 'static,
) -> std::io::Result<Watched> {
    let mut writers = Vec::new();
    for (process, socket) in peers {
        socket.set_patience(Some(patience))?;
        let (mut reader, control) = (Stream::try_clone(&socket)?, control.clone());
        let (lost, heard, told) = (lost.clone(), gauges.clone(), gauges.clone());
        let stopping = control.clone();
        // It ends with the connection, or with this process.
        thread::spawn(move || {
            let progress = |message: &[u8; LEN]| heard.set_process(process, message);
            if let Err(why) = read(&mut reader, &control, progress) {
                lost(process, why);
            }
        });
        let (done, is_done) = channel();
        writers.push((done, thread::spawn(move || write(socket, (&stopping, &told), &is_done))));
    }
    Ok(Watched { writers })
}

impl Drop for Watched {
    fn drop(&mut self) {
        for (done, writer) in self.writers.drain(..) {
            drop(done);
            // It says that this process is done, or cannot say anything.
            let _ = writer.join();
        }
    }
}

fn write(mut socket: Socket, (control, gauges): (&Control, &Gauges), is_done: &Receiver<()>) {
    let mut told = false;
    loop {
        let stops = control.stopped() && !told;
        told |= stops;
        let mut beat = vec![if stops { STOP } else { ALIVE }];
        beat.extend(gauges.message());
        // Whoever reads from the other process notices that it is gone.
        if socket.write_all(&beat).is_err() {
            return;
        }
        if is_done.recv_timeout(BEAT) == Err(RecvTimeoutError::Disconnected) {
            let _ = socket.write_all(&[DONE]);
            return;
        }
    }
}

/// Hears of another process until it is done; why it is thought to be gone, if it is.
fn read(
    socket: &mut Socket,
    control: &Control,
    progress: impl Fn(&[u8; LEN]),
) -> Result<(), String> {
    let silent = |error: std::io::Error| match error.kind() {
        ErrorKind::UnexpectedEof => "it has ended".into(),
        _ => format!("nothing is heard of it any more: {error}"),
    };
    loop {
        let mut kind = [0];
        socket.read_exact(&mut kind).map_err(silent)?;
        if kind[0] == DONE {
            return Ok(());
        }
        let mut message = [0; LEN];
        socket.read_exact(&mut message).map_err(silent)?;
        progress(&message);
        if kind[0] == STOP {
            control.stop();
        }
    }
}
