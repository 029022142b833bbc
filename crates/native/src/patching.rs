//! From the modules that a program has loaded to what the shim writes into them.

use crate::error::Error;
use crate::memory::{Armed, CopiedModule, Plainness, Races};
use everypath_rewrite::{CopyLayout, Counters, Layout, Patch, PlanError, libc_pointers, plan};
use everypath_shim_abi::{LIBC_FUNCTIONS, MAX_PATCHES, ModuleEntry, preload, text};
use everypath_shim_abi::{PatchHeader, PatchKind, Site, Trap, padding};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A module as the loader placed it, with its file.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// Its path; that of the shim is no file.
    pub(crate) path: PathBuf,
    /// What is added to the addresses in its file.
    pub(crate) base: u64,
    /// Where its trampolines go; 0 if it is not patched.
    pub(crate) trampolines: u64,
    /// How much room there is.
    pub(crate) room: usize,
    /// The file.
    pub(crate) bytes: Arc<[u8]>,
}

/// Libraries whose own atomic instructions are not patched: their functions are interposed, and
/// what they lock inside they lock through futexes that are seen.
const NOT_PATCHED: [&str; 8] = [
    "libc.so",
    "ld-linux",
    "libm.so",
    "libgcc_s.so",
    "libpthread.so",
    "libdl.so",
    "librt.so",
    "linux-vdso",
];

impl Loaded {
    /// Reads the file behind an entry of the region.
    pub(crate) fn read(entry: &ModuleEntry) -> Result<Option<Self>, Error> {
        let path = PathBuf::from(OsStr::from_bytes(text(&entry.path)));
        let is_shim = is_shim(&path);
        let bytes: Arc<[u8]> = if is_shim {
            crate::shim::SHIM.into()
        } else if path == Path::new(preload::TSAN_PATH) {
            crate::shim::TSAN.into()
        } else if path.is_absolute() {
            std::fs::read(&path)
                .map_err(|error| Error::Module { path: path.clone(), error })?
                .into()
        } else {
            // The kernel's own pages.
            return Ok(None);
        };
        let trampolines = if is_shim || !is_patched(&path) { 0 } else { entry.trampolines };
        let (base, room) = (entry.base, entry.trampolines_size as usize);
        Ok(Some(Loaded { path, base, trampolines, room, bytes }))
    }

    /// Whether it is the shim.
    pub(crate) fn is_shim(&self) -> bool {
        is_shim(&self.path)
    }

    /// The path under which people know it.
    pub(crate) fn name(&self) -> &Path {
        if self.is_shim() { Path::new("libeverypath_shim.so") } else { &self.path }
    }
}

/// Whether a module is the shim: the loader found it behind a descriptor.
fn is_shim(path: &Path) -> bool {
    path == Path::new(preload::SHIM_PATH)
}

fn is_patched(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    !NOT_PATCHED.iter().any(|library| name.starts_with(library))
}

/// What the shim shall write, in its own format.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patches {
    /// Records: see [`PatchHeader`].
    pub(crate) bytes: Vec<u8>,
    /// How many instructions are patched.
    pub(crate) sites: usize,
    /// How many of them by a trap.
    pub(crate) traps: usize,
    /// The modules whose functions are copied, in the order of the numbers of their blocks.
    pub(crate) copied: Vec<CopiedModule>,
}

/// Which accesses are scheduling points, and what of data races between them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arming<'a> {
    pub(crate) armed: &'a Armed,
    pub(crate) races: Races,
    /// Parts of the names of functions and source files whose data races are not reported.
    pub(crate) suppressed: &'a [String],
}

/// Where the shim's summaries of libc functions are.
pub(crate) type Summaries = [u64; LIBC_FUNCTIONS.len()];

/// Routines of the shim that patches lead to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Routines {
    /// Those for patched instructions.
    pub(crate) entries: [u64; 2],
    pub(crate) summaries: Summaries,
}

/// What is planned so far.
#[derive(Default)]
struct Tables {
    sites: Vec<u8>,
    traps: Vec<Trap>,
    /// How many blocks were numbered.
    blocks: u32,
}

impl Patches {
    /// Plans the patches of all modules. If accesses are to be seen, their functions are copied, and these
    /// accesses are scheduling points.
    pub(crate) fn new(
        modules: &[Loaded],
        Routines { entries, summaries }: Routines,
        arming: Option<Arming<'_>>,
    ) -> Result<Self, Error> {
        let mut patches = Patches::default();
        let mut tables = Tables::default();
        let granules = arming.iter().flat_map(|arming| &arming.armed.granules);
        let granules: Vec<u8> = granules.flat_map(|granule| granule.to_le_bytes()).collect();
        let arming = arming.map(|arming| (arming, Plainness::new(modules, arming)));
        for module in modules.iter().filter(|module| module.trampolines != 0) {
            let added = match &arming {
                Some((arming, plainness)) => {
                    patches.copy(module, entries, (arming, plainness), &mut tables)
                }
                None => patches.patch_in_place(module, entries, &mut tables),
            };
            let failed = |error| Error::Patch { path: module.path.clone(), error };
            let length = added.map_err(failed)?;
            if arming.is_some() {
                patches.redirect(module, &summaries).map_err(failed)?;
            }
            if length > module.room {
                return Err(Error::TooManyPatches { sites: patches.sites });
            }
        }
        let Tables { sites, mut traps, .. } = tables;
        traps.sort_unstable();
        patches.traps = traps.len();
        let traps: Vec<u8> = traps.into_iter().flat_map(Trap::to_bytes).collect();
        patches.record(PatchKind::Sites, 0, &sites);
        patches.record(PatchKind::Traps, 0, &traps);
        patches.record(PatchKind::Granules, 0, &granules);
        if patches.bytes.len() > MAX_PATCHES {
            return Err(Error::TooManyPatches { sites: patches.sites });
        }
        Ok(patches)
    }

    /// Makes a module call the shim instead of functions of libc whose accesses are known.
    fn redirect(&mut self, module: &Loaded, summaries: &Summaries) -> Result<(), PlanError> {
        for (at, name) in libc_pointers(&module.bytes, &LIBC_FUNCTIONS)? {
            let address = at.wrapping_add(module.base);
            self.record(PatchKind::Pointer, address, &summaries[name].to_le_bytes());
        }
        Ok(())
    }

    /// Patches the sites of a module and nothing else; how much room their stubs take.
    fn patch_in_place(
        &mut self,
        module: &Loaded,
        [entry, entry_lower]: [u64; 2],
        tables: &mut Tables,
    ) -> Result<usize, PlanError> {
        let layout = Layout {
            base: module.base,
            trampolines: module.trampolines,
            entry,
            entry_lower,
            first_site: (tables.sites.len() / Site::LENGTH) as u32,
            counters: Counters::default(),
        };
        let plan = plan(&module.bytes, &layout)?;
        if !plan.sites.is_empty() {
            self.add(module, &plan.trampolines, &plan.patches, tables);
            self.add_sites(&plan.sites, tables);
        }
        Ok(plan.trampolines.len())
    }

    /// Copies the functions of a module; how much room that takes.
    fn copy(
        &mut self,
        module: &Loaded,
        [entry, entry_lower]: [u64; 2],
        (arming, plainness): (&Arming<'_>, &Plainness),
        tables: &mut Tables,
    ) -> Result<usize, PlanError> {
        let here = arming.armed.instructions.iter().filter(|access| access.module == module.path);
        let armed: Vec<u64> = here.map(|access| access.address).collect();
        let layout = CopyLayout {
            base: module.base,
            copies: module.trampolines,
            entry,
            entry_lower,
            first_site: (tables.sites.len() / Site::LENGTH) as u32,
            first_block: tables.blocks + 1,
            counters: Counters::default(),
            armed: &armed,
            everywhere: arming.armed.everywhere,
        };
        let mut copy = everypath_rewrite::copy(&module.bytes, &layout)?;
        let in_file = |address: u64| address.wrapping_sub(module.base);
        plainness.mark(&mut copy.sites, |site| armed.binary_search(&in_file(site)).is_ok());
        tables.blocks += copy.blocks.len() as u32;
        tables.traps.extend(&copy.traps);
        self.add(module, &copy.code, &copy.patches, tables);
        self.add_sites(&copy.sites, tables);
        let length = copy.code.len();
        let copy = copy.without_code();
        let first_block = layout.first_block;
        let copies = module.trampolines..module.trampolines + length as u64;
        let (path, base) = (module.path.clone(), module.base);
        self.copied.push(CopiedModule { path, base, copies, first_block, copy });
        Ok(length)
    }

    fn add(&mut self, module: &Loaded, stubs: &[u8], patches: &[Patch], tables: &mut Tables) {
        self.record(PatchKind::Stubs, module.trampolines, stubs);
        for patch in patches {
            self.record(PatchKind::Text, patch.address, &patch.bytes);
            tables.traps.extend(patch.trap.map(|stub| Trap { address: patch.address, stub }));
        }
    }

    fn add_sites(&mut self, sites: &[Site], tables: &mut Tables) {
        self.sites += sites.len();
        tables.sites.extend(sites.iter().flat_map(|site| site.to_bytes()));
    }

    fn record(&mut self, kind: PatchKind, address: u64, bytes: &[u8]) {
        let header = PatchHeader { kind, length: bytes.len() as u32, address };
        self.bytes.extend(header.to_bytes());
        self.bytes.extend(bytes);
        self.bytes.resize(self.bytes.len() + padding(bytes.len()), 0);
    }
}
