//! A pool of workers that share a queue of jobs. When it is closed, only one of the workers is
//! told; the others wait for ever. With the argument `fixed` all are. A number says how many
//! workers there are.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};

const JOBS: usize = 2;

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    closed: bool,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl Shared {
    /// The next job; none once the pool is closed and nothing is left to do.
    fn next(&self) -> Option<Job> {
        let mut queue = self.queue.lock().unwrap();
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                return Some(job);
            }
            if queue.closed {
                return None;
            }
            queue = self.changed.wait(queue).unwrap();
        }
    }
}

struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

impl Pool {
    fn new(size: usize) -> Self {
        let shared = Arc::new(Shared::default());
        let worker = |_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                while let Some(job) = shared.next() {
                    job();
                }
            })
        };
        Pool { workers: (0..size).map(worker).collect(), shared }
    }

    fn submit(&self, job: impl FnOnce() + Send + 'static) {
        self.shared.queue.lock().unwrap().jobs.push_back(Box::new(job));
        self.shared.changed.notify_one();
    }

    fn close(self, tell_all: bool) {
        self.shared.queue.lock().unwrap().closed = true;
        if tell_all {
            self.shared.changed.notify_all();
        } else {
            self.shared.changed.notify_one();
        }
        for worker in self.workers {
            worker.join().unwrap();
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let fixed = arguments.iter().any(|argument| argument == "fixed");
    let size = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(2);
    let done = Arc::new(AtomicUsize::new(0));
    let pool = Pool::new(size);
    for _ in 0..JOBS {
        let done = Arc::clone(&done);
        pool.submit(move || {
            done.fetch_add(1, Ordering::SeqCst);
        });
    }
    pool.close(fixed);
    assert_eq!(done.load(Ordering::SeqCst), JOBS);
}
