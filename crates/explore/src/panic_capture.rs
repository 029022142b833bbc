//! Catching panics in a model's code: they are violations of the model, not internal errors.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

thread_local! {
    static RUNNING: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs model code; a panic becomes an error that says where and why.
pub fn run<R>(code: impl FnOnce() -> R) -> Result<R, String> {
    RUNNING.set(true);
    let result = catch_unwind(AssertUnwindSafe(code));
    RUNNING.set(false);
    result.map_err(|payload| describe(payload.as_ref()))
}

/// For a panic hook: whether the panic happened in model code, so that nothing need be printed.
///
/// It also remembers the place, which the message of the finding then names.
pub fn caught(info: &PanicHookInfo<'_>) -> bool {
    let running = RUNNING.get();
    if running {
        PLACE.set(info.location().map(ToString::to_string));
    }
    running
}

fn describe(payload: &(dyn Any + Send)) -> String {
    let message = payload
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a value that is not text".into());
    match PLACE.take() {
        Some(place) => format!("panicked at {place}: {message}"),
        None => format!("panicked: {message}"),
    }
}
