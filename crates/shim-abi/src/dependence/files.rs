//! Files, descriptors and standard streams.

use super::{Step, Use, of};
use crate::{DescriptorUse, Facet, FileEffect, Footprint, Global, Mode, Object};

/// Something is written to standard output or standard error.
pub(super) fn output(step: &Step) -> Footprint {
    step.alone(Mode::Write)
}

/// All files of a process are one object.
fn all_files(step: &Step, mode: Mode) -> Use {
    (mode, Object::global(Global::Files(step.object.owner())), Facet::Whole)
}

/// A file is read, or looked up.
pub(super) fn read(step: &Step) -> Footprint {
    of(&[all_files(step, Mode::Read)])
}

/// A file, or a folder, is changed.
pub(super) fn write(step: &Step) -> Footprint {
    of(&[all_files(step, Mode::Write)])
}

/// A call uses a descriptor, which others may close. One that is closed may have been a socket's.
pub(super) fn use_descriptor(step: &Step, found: DescriptorUse) -> Footprint {
    let descriptor = step.uses(Mode::Read, Facet::Whole);
    match found {
        DescriptorUse::Other => of(&[descriptor]),
        DescriptorUse::Closed => {
            of(&[descriptor, (Mode::Read, Object::global(Global::Network), Facet::Whole)])
        }
        DescriptorUse::Socket(socket) => of(&[descriptor, (Mode::Read, socket, Facet::Open)]),
    }
}

/// A call moves the offset of an open file, which is common to all its descriptors.
pub(super) fn move_offset(step: &Step, offset: Object) -> Footprint {
    of(&[step.uses(Mode::Read, Facet::Whole), (Mode::Write, offset, Facet::Whole)])
}

/// What a descriptor refers to changes.
pub(super) fn close_descriptor(step: &Step, effect: FileEffect) -> Footprint {
    let descriptor = step.uses(Mode::Write, Facet::Whole);
    match effect {
        FileEffect::None => of(&[descriptor]),
        FileEffect::Visible => of(&[descriptor, all_files(step, Mode::Write)]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::on;
    use super::*;
    use crate::{Closing, Operation};

    #[test]
    fn all_files_of_a_process_are_one_object() {
        let (read, write) = (Operation::FileRead, Operation::FileWrite(1));
        let [first, second] = [1, 2].map(|number| Object::file(0, number));
        assert!(on(first, read).commutes(&on(second, read)));
        assert!(!on(first, read).commutes(&on(second, write)));
        assert!(on(first, write).commutes(&on(Object::file(1, 1), write)));
    }

    #[test]
    fn streams_are_apart_from_each_other_and_from_files_and_sockets() {
        let write = |number| on(Object::stream(0, number), Operation::Output(1));
        assert!(!write(1).commutes(&write(1)) && write(1).commutes(&write(2)));
        for number in [1, 2] {
            assert!(write(number).commutes(&on(Object::file(0, 1), Operation::FileWrite(1))));
            assert!(write(number).commutes(&on(Object::socket(1), Operation::EpollControl)));
        }
    }

    #[test]
    fn a_descriptor_is_used_before_or_after_it_is_closed() {
        let descriptor = Object::descriptor(0, 3);
        let use_of = |found| on(descriptor, Operation::DescriptorUse(found));
        let close = on(descriptor, Operation::DescriptorClose(FileEffect::None));
        assert!(!use_of(DescriptorUse::Other).commutes(&close));
        let socket = Object::socket(1);
        let close = on(socket, Operation::Close(Closing::OtherEnd(Object::socket(2))));
        assert!(!use_of(DescriptorUse::Socket(socket)).commutes(&close));
        assert!(!use_of(DescriptorUse::Closed).commutes(&close), "it may have been that one");
        assert!(use_of(DescriptorUse::Other).commutes(&close));
    }

    #[test]
    fn closing_is_seen_in_files_if_it_has_an_effect_there() {
        let close = |effect| on(Object::descriptor(0, 3), Operation::DescriptorClose(effect));
        let read = on(Object::file(0, 1), Operation::FileRead);
        assert!(close(FileEffect::None).commutes(&read));
        assert!(!close(FileEffect::Visible).commutes(&read));
    }

    #[test]
    fn descriptors_of_one_open_file_share_its_offset() {
        let seek = |descriptor, description| {
            let offset = Object::offset(0, description);
            on(Object::descriptor(0, descriptor), Operation::DescriptorMove(offset))
        };
        assert!(!seek(3, 3).commutes(&seek(4, 3)) && seek(3, 3).commutes(&seek(4, 4)));
    }
}
