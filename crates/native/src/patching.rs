//! From the modules that a program has loaded to what the shim writes into them.

use crate::error::Error;
use everypath_rewrite::{Counters, Layout, Plan, plan};
use everypath_shim_abi::address_space::TRAMPOLINES_SIZE;
use everypath_shim_abi::{MAX_PATCHES, ModuleEntry, preload, text};
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
        } else if path.is_absolute() {
            std::fs::read(&path)
                .map_err(|error| Error::Module { path: path.clone(), error })?
                .into()
        } else {
            // The kernel's own pages.
            return Ok(None);
        };
        let trampolines = if is_shim || !is_patched(&path) { 0 } else { entry.trampolines };
        Ok(Some(Loaded { path, base: entry.base, trampolines, bytes }))
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
}

impl Patches {
    /// Plans the patches of all modules.
    pub(crate) fn new(modules: &[Loaded], [entry, entry_lower]: [u64; 2]) -> Result<Self, Error> {
        let mut patches = Patches::default();
        let mut sites = Vec::new();
        let mut traps = Vec::new();
        for module in modules.iter().filter(|module| module.trampolines != 0) {
            let layout = Layout {
                base: module.base,
                trampolines: module.trampolines,
                entry,
                entry_lower,
                first_site: (sites.len() / Site::LENGTH) as u32,
                counters: Counters::default(),
            };
            let plan = plan(&module.bytes, &layout)
                .map_err(|error| Error::Patch { path: module.path.clone(), error })?;
            if plan.trampolines.len() > TRAMPOLINES_SIZE {
                return Err(Error::TooManyPatches { sites: plan.sites.len() });
            }
            patches.add(&plan, module.trampolines, &mut sites, &mut traps);
        }
        traps.sort_unstable();
        patches.traps = traps.len();
        let traps: Vec<u8> = traps.into_iter().flat_map(Trap::to_bytes).collect();
        patches.record(PatchKind::Sites, 0, &sites);
        patches.record(PatchKind::Traps, 0, &traps);
        if patches.bytes.len() > MAX_PATCHES {
            return Err(Error::TooManyPatches { sites: patches.sites });
        }
        Ok(patches)
    }

    fn add(&mut self, plan: &Plan, at: u64, sites: &mut Vec<u8>, traps: &mut Vec<Trap>) {
        if plan.sites.is_empty() {
            return;
        }
        self.sites += plan.sites.len();
        self.record(PatchKind::Stubs, at, &plan.trampolines);
        for patch in &plan.patches {
            self.record(PatchKind::Text, patch.address, &patch.bytes);
            traps.extend(patch.trap.map(|stub| Trap { address: patch.address, stub }));
        }
        sites.extend(plan.sites.iter().flat_map(|site| site.to_bytes()));
    }

    fn record(&mut self, kind: PatchKind, address: u64, bytes: &[u8]) {
        let header = PatchHeader { kind, length: bytes.len() as u32, address };
        self.bytes.extend(header.to_bytes());
        self.bytes.extend(bytes);
        self.bytes.resize(self.bytes.len() + padding(bytes.len()), 0);
    }
}
