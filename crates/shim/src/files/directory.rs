//! The working directory: the program's own from its first `chdir` on.

use super::path::{At, Path};
use super::{MAX_PATH, keep_path, listing, names};
use crate::guest;
use crate::heap;
use crate::memory::bytes;
use crate::objects;
use crate::scheduler::point;
use crate::state::state;
use crate::sys::{Answer, answer, errno, number, sys};
use everypath_shim_abi::Operation;

/// The path of the working directory.
pub(super) fn working_directory() -> Result<Path, i32> {
    let mut path = Path::root();
    let (address, length) = state().files.directory.get();
    if address != 0 {
        path.extend(bytes(address, length))?;
        return Ok(path);
    }
    let mut text = [0u8; MAX_PATH];
    let length = answer(sys!(number::GETCWD, text.as_mut_ptr(), MAX_PATH))?;
    path.extend(&text[..length as usize - 1])?;
    Ok(path)
}

/// Does what `chdir` does.
pub(crate) fn change_directory(at: At) -> Answer {
    point(Operation::FileWrite(0), objects::paths());
    change_to(Path::new(at)?)
}

/// Does what `fchdir` does.
pub(crate) fn change_to_open_directory(descriptor: i32) -> Answer {
    point(Operation::FileWrite(0), objects::paths());
    change_to(listing::path_of(descriptor)?)
}

fn change_to(mut path: Path) -> Answer {
    if !names::is_directory(&mut path)? {
        return Err(errno::ENOTDIR);
    }
    let before = state().files.directory.replace(keep_path(&path)).0;
    if before != 0 {
        heap::release_block(before);
    }
    Ok(0)
}

/// Does what `getcwd` does.
pub(crate) fn current_directory(address: usize, room: usize) -> Answer {
    point(Operation::FileRead, objects::paths());
    let mut path = working_directory()?;
    names::is_directory(&mut path)?;
    path.c_string();
    let text = &path.bytes[..path.length.max(1) + 1];
    if text.len() > room {
        return Err(errno::ERANGE);
    }
    guest::write(address, text)?;
    Ok(text.len() as isize)
}
