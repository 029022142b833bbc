//! Whether the other processes are alive: each says so every second, says when it is done, and passes
//! on that it was asked to stop.

use crate::handshake::Socket;
use everypath_explore::Control;
use std::io::{Read, Write};
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
    control: &Control,
    lost: impl Fn(usize, String) + Clone + Send + 'static,
) -> std::io::Result<Watched> {
    let mut writers = Vec::new();
    for (process, socket) in peers {
        socket.set_patience(Some(patience))?;
        let (mut reader, control) = (Stream::try_clone(&socket)?, control.clone());
        let lost = lost.clone();
        let stopping = control.clone();
        // It ends with the connection, or with this process.
        thread::spawn(move || read(&mut reader, &control, |why| lost(process, why)));
        let (done, is_done) = channel();
        writers.push((done, thread::spawn(move || write(socket, &stopping, &is_done))));
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

fn write(mut socket: Socket, control: &Control, is_done: &Receiver<()>) {
    let mut told = false;
    loop {
        let stops = control.stopped() && !told;
        told |= stops;
        let beat = if stops { STOP } else { ALIVE };
        // Whoever reads from the other process notices that it is gone.
        if socket.write_all(&[beat]).is_err() {
            return;
        }
        if is_done.recv_timeout(BEAT) == Err(RecvTimeoutError::Disconnected) {
            let _ = socket.write_all(&[DONE]);
            return;
        }
    }
}

fn read(socket: &mut Socket, control: &Control, lost: impl Fn(String)) {
    let mut byte = [0];
    loop {
        match socket.read(&mut byte) {
            Ok(0) => return lost("it has ended".into()),
            Err(error) => return lost(format!("nothing is heard of it any more: {error}")),
            Ok(_) if byte[0] == DONE => return,
            Ok(_) if byte[0] == STOP => control.stop(),
            Ok(_) => {}
        }
    }
}
