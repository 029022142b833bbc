//! Which of the accesses that are scheduling points are certainly not atomic.

use super::{Instruction, Races};
use crate::patching::{Arming, Loaded};
use crate::symbols::{Module, Symbols};
use everypath_shim_abi::{Site, SiteKind};
use std::collections::BTreeSet;

/// What is known of that.
pub(crate) struct Plainness {
    symbols: Option<Symbols>,
    /// Parts of the names of functions and source files whose data races are not reported.
    suppressed: Vec<String>,
}

impl Plainness {
    /// Of the accesses that are scheduling points, if somebody wants to know.
    pub(crate) fn new(modules: &[Loaded], arming: Arming<'_>) -> Self {
        let wanted = arming.races == Races::Violation && !arming.armed.instructions.is_empty();
        let is_armed =
            |module: &&Loaded| arming.armed.instructions.iter().any(|it| it.module == module.path);
        let symbols = wanted.then(|| symbols(modules.iter().filter(is_armed)));
        Plainness { symbols, suppressed: arming.suppressed.to_vec() }
    }

    /// Of all accesses.
    pub(crate) fn of(modules: &[Loaded]) -> Self {
        Plainness { symbols: Some(symbols(modules.iter())), suppressed: Vec::new() }
    }

    /// Whether debug information makes certain that an instruction is not atomic.
    pub(crate) fn is_plain(&self, access: &Instruction, modules: &[Loaded]) -> bool {
        let module = modules.iter().find(|module| module.path == access.module);
        let address = module.map(|module| module.base.wrapping_add(access.address));
        self.symbols.as_ref().zip(address).is_some_and(|(symbols, at)| symbols.is_plain(at))
    }

    /// Marks the sites that are certainly not atomic, of those that are armed. Others are known as what
    /// they are: loads of C++'s guard variables, which look plain, are atomic.
    pub(crate) fn mark(&self, sites: &mut [Site], is_armed: impl Fn(u64) -> bool) {
        let Some(symbols) = &self.symbols else { return };
        let of = |kind| sites.iter().filter(move |site| site.kind == kind).map(|site| site.address);
        // An instruction that loads and then stores, and is not locked, is not atomic as a whole; its
        // parts may be, if a compiler has merged them.
        let loads: BTreeSet<u64> = of(SiteKind::Load).collect();
        let divided: BTreeSet<u64> = of(SiteKind::Store).filter(|at| loads.contains(at)).collect();
        for site in sites.iter_mut() {
            site.is_plain = matches!(site.kind, SiteKind::Load | SiteKind::Store)
                && is_armed(site.address)
                // No compiler makes an atomic access of an instruction that may be many.
                && (site.is_repeated
                    || divided.contains(&site.address) && !symbols.is_atomic(site.address)
                    || symbols.is_plain(site.address));
            site.is_suppressed =
                is_armed(site.address) && self.is_suppressed(symbols, site.address);
        }
    }

    fn is_suppressed(&self, symbols: &Symbols, address: u64) -> bool {
        let is_meant = |name: &String| self.suppressed.iter().any(|part| name.contains(part));
        !self.suppressed.is_empty()
            && symbols
                .frames(address, false)
                .iter()
                .any(|frame| frame.function.iter().chain(&frame.file).any(is_meant))
    }
}

fn symbols<'a>(modules: impl Iterator<Item = &'a Loaded>) -> Symbols {
    let module = |loaded: &Loaded| {
        let place = Module { path: loaded.path.clone(), base: loaded.base };
        (place, loaded.bytes.clone())
    };
    Symbols::new(modules.map(module).collect())
}
