//! `tokio`: tasks on two threads count under an asynchronous lock. They read under one lock and
//! write under another; with the argument `fixed` under one.

use std::sync::Arc;
use tokio::runtime::Builder;
use tokio::sync::Mutex;

async fn count(counter: Arc<Mutex<u32>>, fixed: bool) {
    if fixed {
        *counter.lock().await += 1;
        return;
    }
    let seen = *counter.lock().await;
    *counter.lock().await = seen + 1;
}

fn main() {
    let fixed = std::env::args().nth(1).is_some();
    let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let counter = Arc::new(Mutex::new(0));
    let total = runtime.block_on(async {
        let tasks = [(), ()].map(|()| tokio::spawn(count(Arc::clone(&counter), fixed)));
        for task in tasks {
            task.await.unwrap();
        }
        *counter.lock().await
    });
    assert_eq!(total, 2);
}
