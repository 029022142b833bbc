//! Unwinding stacks by the modules' unwind tables.

use super::Registers;
use super::module::Loaded;
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Unwinder};
use object::{Object, ObjectSection};

/// The most addresses of one stack.
const DEEPEST: usize = 128;

/// The unwind tables of all modules.
pub(super) struct Stacks {
    unwinder: UnwinderX86_64<Vec<u8>>,
    cache: CacheX86_64,
}

impl Stacks {
    pub(super) fn new(modules: &[Loaded]) -> Self {
        let mut unwinder = UnwinderX86_64::new();
        for module in modules {
            let file = module.file();
            let place = |name| {
                let section = file.section_by_name(name)?;
                Some(section.address()..section.address().saturating_add(section.size()))
            };
            let data = |name| file.section_by_name(name)?.data().ok().map(<[u8]>::to_vec);
            let sections = ExplicitModuleSectionInfo {
                text_svma: place(".text"),
                got_svma: place(".got"),
                eh_frame_svma: place(".eh_frame"),
                eh_frame: data(".eh_frame"),
                eh_frame_hdr_svma: place(".eh_frame_hdr"),
                eh_frame_hdr: data(".eh_frame_hdr"),
                ..ExplicitModuleSectionInfo::default()
            };
            let start = module.base.wrapping_add(module.range.start);
            let end = module.base.wrapping_add(module.range.end);
            unwinder.add_module(framehop::Module::new(
                String::new(),
                start..end,
                module.base,
                sections,
            ));
        }
        Stacks { unwinder, cache: CacheX86_64::new() }
    }

    /// `known` says whether the next instruction is in a module.
    pub(super) fn unwind(
        &mut self,
        registers: Registers,
        known: bool,
        read: &mut dyn FnMut(u64) -> Option<u64>,
    ) -> Vec<u64> {
        let mut read = |address| read(address).ok_or(());
        let mut found = vec![registers.rip];
        let mut stack = UnwindRegsX86_64::new(registers.rip, registers.rsp, registers.rbp);
        let mut address = FrameAddress::from_instruction_pointer(registers.rip);
        if !known {
            // A call went astray, to address zero for example: it just pushed where it came from.
            let Some(caller) = read(registers.rsp).ok().and_then(FrameAddress::from_return_address)
            else {
                return found;
            };
            found.push(caller.address());
            stack = UnwindRegsX86_64::new(caller.address(), registers.rsp + 8, registers.rbp);
            address = caller;
        }
        while found.len() < DEEPEST {
            let next = self.unwinder.unwind_frame(address, &mut stack, &mut self.cache, &mut read);
            let Some(caller) = next.ok().flatten().and_then(FrameAddress::from_return_address)
            else {
                break;
            };
            found.push(caller.address());
            address = caller;
        }
        found
    }
}
