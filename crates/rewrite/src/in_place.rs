//! Patches in place: a patch site becomes a jump to its stub, and all else stays as it is.

use crate::code::{self, Code};
use crate::image::Image;
use crate::locks::Locks;
use crate::sites::{Counters, Sites, operand};
use crate::stub::{self, JUMP_SIZE};
use crate::{PlanError, Site};
use iced_x86::{FlowControl, Instruction};

const INT3: u8 = 0xCC;

/// What to write over the code of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Where in the running program.
    pub address: u64,
    /// The new bytes.
    pub bytes: Vec<u8>,
    /// The stub to continue at after the trap, when the patch is a one-byte `int3`.
    pub trap: Option<u64>,
}

/// How a module is to be patched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The stubs, to be put at [`Layout::trampolines`].
    pub trampolines: Vec<u8>,
    /// One for each site, in the same order; they do not overlap.
    pub patches: Vec<Patch>,
    /// In the order of their addresses. The first has the number [`Layout::first_site`].
    pub sites: Vec<Site>,
}

impl Patch {
    /// Where the stub starts that the patch leads to.
    fn stub(&self) -> Option<u64> {
        let jump = || {
            let distance = self.bytes.get(1..JUMP_SIZE)?.try_into().ok()?;
            let end = self.address.wrapping_add(JUMP_SIZE as u64);
            Some(end.wrapping_add_signed(i64::from(i32::from_le_bytes(distance))))
        };
        self.trap.or_else(jump)
    }
}

impl Plan {
    /// The site whose stub an address is in. An instruction that faults there, because its
    /// operand is no memory for example, faults in the name of the site.
    pub fn site_of_stub(&self, address: u64) -> Option<Site> {
        let first = self.patches.first()?.stub()?;
        let inside = first..first + self.trampolines.len() as u64;
        let next = self.patches.partition_point(|patch| patch.stub() <= Some(address));
        inside.contains(&address).then(|| self.sites.get(next.checked_sub(1)?).copied())?
    }
}

/// Where everything is in the running program.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// What is added to the addresses in the file.
    pub base: u64,
    /// Where the stubs will be: within 2 GB of all of the module.
    pub trampolines: u64,
    /// The routine of the shim that every stub calls, anywhere. It finds the number of the site
    /// and the address of the operand above its return address, and preserves every register
    /// but `rax` and the flags.
    pub entry: u64,
    /// The same for modules that use the lower halves of vector registers only.
    pub entry_lower: u64,
    /// The number of the module's first site.
    pub first_site: u32,
    /// Which atomic updates are sites.
    pub counters: Counters,
}

/// Plans the patches of the module whose ELF file is given.
pub fn plan(elf: &[u8], layout: &Layout) -> Result<Plan, PlanError> {
    let image = Image::parse(elf)?;
    if let Some(address) = code::unknown_lock(&image) {
        return Err(PlanError::UnknownFunction { address });
    }
    let locks = Locks::of(elf, &image)?;
    let code = Code::scan(&image, &locks);
    let (base, counters) = (layout.base, layout.counters);
    let sites = Sites { image: &image, code: &code, locks: &locks, base, counters };
    Planner { code: &code, sites: &sites, layout }.plan()
}

struct Planner<'a> {
    code: &'a Code,
    sites: &'a Sites<'a>,
    layout: &'a Layout,
}

impl Planner<'_> {
    fn plan(&self) -> Result<Plan, PlanError> {
        let addresses = self.sites.addresses();
        let mut plan = Plan::default();
        for &address in &addresses {
            self.patch(address, &addresses, &mut plan)?;
        }
        Ok(plan)
    }

    /// Adds the site at the address of the file to the plan.
    fn patch(&self, address: u64, sites: &[u64], plan: &mut Plan) -> Result<(), PlanError> {
        let displaced = self.displaceable(address, sites);
        let moved = match &displaced {
            Some(instructions) => instructions.clone(),
            None => self.sites.instructions(address).take(1).collect(),
        };
        let (Some(instruction), Some(last)) = (moved.first(), moved.last()) else { return Ok(()) };
        let Some(kind) = self.sites.kind(instruction) else { return Ok(()) };
        let (operand, size) = operand(kind, instruction);
        let site = Site::new(instruction.ip(), kind, size);
        let number = self.layout.first_site + plan.sites.len() as u32;
        let stub = self.layout.trampolines + plan.trampolines.len() as u64;
        let end = last.next_ip();
        let entry = match self.code.uses_upper_halves {
            true => self.layout.entry,
            false => self.layout.entry_lower,
        };
        plan.trampolines.extend(stub::write(stub, (&moved, operand), number, entry)?);
        plan.patches.push(match displaced {
            Some(_) => self.jump(site.address, end, stub)?,
            None => Patch { address: site.address, bytes: vec![INT3], trap: Some(stub) },
        });
        plan.sites.push(site);
        Ok(())
    }

    /// The jump from a site to its stub. What is left over of the displaced instructions must
    /// never run, and traps if it does.
    fn jump(&self, from: u64, end: u64, stub: u64) -> Result<Patch, PlanError> {
        let too_far = PlanError::TooFar { trampolines: self.layout.trampolines, address: from };
        let distance = stub::distance(from + JUMP_SIZE as u64, stub).ok_or(too_far)?;
        let mut bytes = vec![0xE9];
        bytes.extend(distance.to_le_bytes());
        bytes.resize((end - from) as usize, INT3);
        Ok(Patch { address: from, bytes, trap: None })
    }

    /// The site and the instructions after it that make room for a jump; `None` where something
    /// may arrive in the middle of them, or where one must stay where it is.
    fn displaceable(&self, address: u64, sites: &[u64]) -> Option<Vec<Instruction>> {
        let mut displaced = Vec::new();
        let mut size = 0;
        for instruction in self.sites.instructions(address) {
            let movable = match instruction.flow_control() {
                FlowControl::Next => true,
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                    instruction.is_jcc_short_or_near() || instruction.is_jmp_short_or_near()
                }
                _ => false,
            };
            let is_other_site = size > 0 && sites.binary_search(&(address + size)).is_ok();
            if !movable || is_other_site {
                return None;
            }
            size += instruction.len() as u64;
            displaced.push(instruction);
            if size >= JUMP_SIZE as u64 {
                let entered = self.code.is_entered(address + 1..address + size);
                return (!entered).then_some(displaced);
            }
            // Nothing falls through to what follows, so something unknown may jump to it.
            if instruction.flow_control() == FlowControl::UnconditionalBranch {
                return None;
            }
        }
        None
    }
}
