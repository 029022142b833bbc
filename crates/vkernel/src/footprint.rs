//! What objects are in the footprints of steps.

use crate::host::Host;
use crate::object::{Kind, Stage, key, partner};
use everypath_shim_abi as abi;

/// What an object is, in footprints: its address, if that is where others meet it.
pub(crate) fn touches(k: &impl Host, number: usize) -> abi::Object {
    let object = k.object(number);
    let local = object.local.get();
    let meets = match object.kind.get() {
        Kind::Datagram => partner(object).is_none() && local.is_some() && !local.is_unnamed(),
        _ => object.stage.get() == Stage::Listening,
    };
    if meets { local.key() } else { key(number) }
}

/// The other end, in footprints; if there is none, this end once more.
pub(crate) fn other_end_of(k: &impl Host, number: usize) -> abi::Object {
    partner(k.object(number)).map_or(key(number), key)
}
