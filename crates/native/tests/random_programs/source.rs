//! Scripts as C and C++: many in one program, which is told by its argument which one to run.

use super::script::{Home, Operation, Order, Place, Script};
use std::fmt::Write;

/// The source of a program; `prelude.h` defines what it is made of.
pub(super) fn source(scripts: &[Script]) -> String {
    let mut text = String::from("#include \"prelude.h\"\n");
    for (number, script) in scripts.iter().enumerate() {
        for (thread, operations) in script.threads.iter().enumerate() {
            let body: String = operations.iter().map(|&it| statement(it)).collect();
            let _ =
                writeln!(text, "THREAD(run_{number}_{thread}) {{\n    BEGIN\n{body}    END\n}}");
        }
    }
    text.push_str("static const struct script scripts[] = {\n");
    for (number, script) in scripts.iter().enumerate() {
        let home = match script.home {
            Home::Static => "AT_STATIC",
            Home::Heap => "AT_HEAP",
            Home::Stack => "AT_STACK",
        };
        let threads = (0..script.threads.len()).map(|thread| format!("run_{number}_{thread}"));
        let threads = threads.collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "    {{{home}, {}, {{{threads}}}}},", script.threads.len());
    }
    text.push_str("};\n#include \"main.h\"\n");
    text
}

fn statement(operation: Operation) -> String {
    let text = match operation {
        Operation::Load(place) => format!("SEE({});", plain(place)),
        Operation::Store(place, value) => format!("{} = {value};", plain(place)),
        Operation::StoreSeen(place) => format!("{} = (unsigned char)seen;", plain(place)),
        Operation::Add(place, value) => format!("{} += {value};", plain(place)),
        Operation::AtomicLoad(place, order) => {
            format!("SEE(LOAD({}, {}));", atomic(place), suitable(order, "ACQUIRE"))
        }
        Operation::AtomicStore(place, value, order) => {
            format!("STORE({}, {value}, {});", atomic(place), suitable(order, "RELEASE"))
        }
        Operation::FetchAdd(place, value, order) => {
            format!("SEE(FETCH_ADD({}, {value}, {}));", atomic(place), suitable(order, "ACQ_REL"))
        }
        Operation::Exchange(place, value, order) => {
            format!("SEE(EXCHANGE({}, {value}, {}));", atomic(place), suitable(order, "ACQ_REL"))
        }
        Operation::CompareExchange(place, expected, desired, order) => {
            let order = suitable(order, "ACQUIRE");
            format!("COMPARE_EXCHANGE({}, {expected}, {desired}, {order});", atomic(place))
        }
        Operation::Lock(mutex) => format!("pthread_mutex_lock(&mutexes[{mutex}]);"),
        Operation::Unlock(mutex) => format!("pthread_mutex_unlock(&mutexes[{mutex}]);"),
        Operation::IfEven => return "    if (seen % 2 == 0)\n".into(),
    };
    format!("    {{ {text} BARRIER }}\n")
}

fn plain(place: Place) -> String {
    format!("*(u{} *)(shared + {})", 8 * place.size, place.offset)
}

/// Its type and its address.
fn atomic(place: Place) -> String {
    format!("u{}, shared + {}", 8 * place.size, place.offset)
}

fn suitable(order: Order, middle: &'static str) -> &'static str {
    match order {
        Order::Relaxed => "RELAXED",
        Order::AcquireOrRelease => middle,
        Order::SequentiallyConsistent => "SEQ_CST",
    }
}
