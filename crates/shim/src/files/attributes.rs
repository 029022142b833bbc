//! Extended attributes of files: those of the machine's are read, and files of the program have none.

use super::path::{AT_FDCWD, At, Path};
use super::{host, slot, written};
use crate::descriptors::{Kind, used};
use crate::guest;
use crate::objects;
use crate::scheduler::point;
use crate::sys::{Answer, answer, errno, number, sys};
use crate::write_protect::expect_write;
use core::cell::Cell;
use everypath_shim_abi::Operation;

/// Whose attributes a call is about.
#[derive(Clone, Copy)]
pub(crate) enum Of {
    /// What a path leads to.
    Path(usize),
    /// What a path names, a link or not.
    Link(usize),
    /// What a descriptor is open on.
    Descriptor(usize),
}

/// The path of a file of the machine; none if the file is the program's own.
fn of_machine(of: Of) -> Result<Option<Path>, i32> {
    point(Operation::FileRead, objects::paths());
    let path = match of {
        Of::Path(given) => Path::new(At(AT_FDCWD, given))?,
        Of::Link(given) => Path::of_link(At(AT_FDCWD, given))?,
        Of::Descriptor(descriptor) => {
            let open = used(descriptor as i32).map(Cell::get).ok_or(errno::EBADF)?;
            if open.kind != Kind::Host {
                return Ok(None);
            }
            Path::of_text(AT_FDCWD, host::copied(usize::from(open.index)).path())?
        }
    };
    match written(path.as_slice()) {
        Some(index) if slot(index).get().removed => Err(errno::ENOENT),
        Some(_) => Ok(None),
        None => Ok(Some(path)),
    }
}

/// Does what `getxattr` and its kin do.
pub(crate) fn get_attribute(of: Of, name: usize, value: usize, size: usize) -> Answer {
    guest::c_string(name)?;
    let Some(mut path) = of_machine(of)? else { return Err(errno::ENODATA) };
    expect_write(value, size);
    answer(sys!(number::LGETXATTR, path.c_string(), name, value, size))
}

/// Does what `listxattr` and its kin do.
pub(crate) fn list_attributes(of: Of, list: usize, size: usize) -> Answer {
    let Some(mut path) = of_machine(of)? else { return Ok(0) };
    expect_write(list, size);
    answer(sys!(number::LLISTXATTR, path.c_string(), list, size))
}

/// Does what `setxattr`, `removexattr` and their kin do on a file system that has no attributes.
pub(crate) fn set_attribute(of: Of, name: usize) -> Answer {
    guest::c_string(name)?;
    of_machine(of)?;
    Err(errno::EOPNOTSUPP)
}
