//! What this machine supports for controlling programs, found by trying it.

mod program;
pub(crate) mod resource_limits;

pub use program::{Inspected, inspect};
pub use resource_limits::stack_shortage;

use crate::launch::Launch;
use crate::program::{Program, ProgramError};
use crate::sample::{Sampler, Sampling, sample};
use crate::shim::memory_file;
use everypath_shim_abi::address_space::PAGE;
use everypath_shim_abi::{Setup, userfault};
use everypath_trace::Control;
use std::ffi::{CStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::thread;

/// The oldest C library whose insides we know.
const OLDEST_GLIBC: (u32, u32) = (2, 34);
/// The program that is run for a proof: small, and everywhere.
const PROBE: &str = "true";
/// After so many tenths of a second the probe is given up.
const PATIENCE: u32 = 100;

/// One thing that was looked at.
#[derive(Debug)]
pub struct Finding {
    /// What.
    pub subject: &'static str,
    /// What was found.
    pub found: String,
    /// What is wrong with that, if anything is.
    pub lack: Option<Lack>,
}

/// Something that is missing.
#[derive(Debug)]
pub struct Lack {
    /// What that means.
    pub meaning: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
    /// Whether no program can be checked without it.
    pub essential: bool,
}

impl Finding {
    fn new(subject: &'static str, found: impl Into<String>) -> Self {
        Finding { subject, found: found.into(), lack: None }
    }

    /// A facility that either works or does not.
    fn probed(subject: &'static str, probe: io::Result<()>) -> Self {
        match probe {
            Ok(()) => Finding::new(subject, "works"),
            Err(error) => Finding::new(subject, error.to_string()).lacking(NOTHING_WORKS),
        }
    }

    fn lacking(self, lack: Lack) -> Self {
        Finding { lack: Some(lack), ..self }
    }

    /// Says what a lack means and what to do about it, if there is one.
    fn explained(mut self, meaning: &'static str, remedy: &'static str) -> Self {
        if let Some(lack) = &mut self.lack {
            (lack.meaning, lack.remedy) = (meaning, remedy);
        }
        self
    }

    /// Programs can be checked without this.
    fn optional(mut self) -> Self {
        if let Some(lack) = &mut self.lack {
            lack.essential = false;
        }
        self
    }
}

const NOTHING_WORKS: Lack =
    Lack { meaning: "programs cannot be checked", remedy: "", essential: true };
const SANDBOX: &str =
    "a container's seccomp profile usually forbids it: allow it there, or run outside";

/// Looks at everything. `folders` are those where programs are looked for by name.
pub fn examine(folders: &[PathBuf], environment: &[(OsString, OsString)]) -> Vec<Finding> {
    let mut findings = vec![
        kernel(),
        architecture(),
        fs_base(),
        xsavec(),
        vectors(),
        dispatch(),
        tracking(),
        randomisation(),
        memory_files(),
        reading_memory(),
        debugging(),
        gdb(folders),
        c_library(),
        cores(),
        free_memory(),
        proc_files(),
        mappings(),
    ];
    findings.extend(resource_limits::findings());
    findings.push(proof(folders, environment));
    findings
}

/// What the kernel calls itself: its release and its machine.
fn kernel_name() -> Option<(String, String)> {
    // SAFETY: a structure of character arrays, for which zeros are valid.
    let mut name: libc::utsname = unsafe { std::mem::zeroed() };
    // SAFETY: fills in our own structure. JUSTIFICATION: std does not tell.
    if unsafe { libc::uname(&raw mut name) } != 0 {
        return None;
    }
    // SAFETY: the kernel ends both with a zero.
    let text =
        |field: &[libc::c_char]| unsafe { CStr::from_ptr(field.as_ptr()) }.to_string_lossy().into();
    Some((text(&name.release), text(&name.machine)))
}

fn kernel() -> Finding {
    let release = kernel_name().map_or_else(|| "Linux".into(), |(release, _)| release);
    Finding::new("kernel", format!("Linux {release}"))
}

fn architecture() -> Finding {
    let (_, machine) = kernel_name().unwrap_or_default();
    let finding = Finding::new("architecture", &machine);
    match machine.as_str() {
        "x86_64" => finding,
        _ => finding
            .lacking(NOTHING_WORKS)
            .explained("programs cannot be checked", "use an x86-64 machine"),
    }
}

fn fs_base() -> Finding {
    const FSGSBASE: libc::c_ulong = 1 << 1;
    // SAFETY: reads what the kernel told this process. JUSTIFICATION: std does not tell.
    let usable = unsafe { libc::getauxval(libc::AT_HWCAP2) } & FSGSBASE != 0;
    Finding::probed("FSGSBASE instructions", available(usable)).explained(
        "threads cannot be switched; programs cannot be checked",
        "use Linux 5.9 or newer on a processor of 2012 (Intel) or 2015 (AMD) or newer",
    )
}

fn xsavec() -> Finding {
    let usable = std::arch::is_x86_feature_detected!("xsavec");
    Finding::probed("XSAVEC instruction", available(usable)).explained(
        "atomic instructions cannot become scheduling points; programs cannot be checked",
        "use a processor of 2015 (Intel) or 2017 (AMD) or newer; a virtual machine must pass it on",
    )
}

fn available(usable: bool) -> io::Result<()> {
    if usable { Ok(()) } else { Err(io::Error::other("not available")) }
}

/// The shim clears vector registers between threads with an instruction of AVX.
fn vectors() -> Finding {
    let usable = std::arch::is_x86_feature_detected!("avx");
    Finding::probed("AVX registers", available(usable)).explained(
        "threads cannot be switched; programs cannot be checked",
        "use a processor of 2011 or newer; a virtual machine must pass it on",
    )
}

fn dispatch() -> Finding {
    const SET_DISPATCH: libc::c_int = 59;
    const OFF: libc::c_ulong = 0;
    // SAFETY: switches off what is off. JUSTIFICATION: refused where the kernel does not know it.
    let result = unsafe { libc::prctl(SET_DISPATCH, OFF, 0u64, 0u64, 0u64) };
    Finding::probed("Syscall User Dispatch", checked(result.into())).explained(
        "syscalls cannot be intercepted; programs cannot be checked",
        "use Linux 5.11 or newer, and no seccomp profile that forbids the prctl",
    )
}

fn checked(result: i64) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn tracking() -> Finding {
    let meaning = "programs with more than 1 MB of memory are restored more slowly";
    let remedy = "use Linux 6.7 or newer, and no seccomp profile that forbids userfaultfd";
    Finding::probed("tracking of dirty pages", track()).explained(meaning, remedy).optional()
}

/// Opens what tracking needs and asks for the list of a page of ours.
fn track() -> io::Result<()> {
    let flags = libc::O_CLOEXEC | libc::O_NONBLOCK | userfault::USER_MODE_ONLY as libc::c_int;
    // SAFETY: makes a descriptor. JUSTIFICATION: std does not know this call.
    let descriptor = unsafe { libc::syscall(libc::SYS_userfaultfd, flags) };
    checked(descriptor)?;
    // SAFETY: the descriptor was just made and is nobody else's.
    let file: File = unsafe { std::os::fd::FromRawFd::from_raw_fd(descriptor as i32) };
    let mut api = [userfault::API, userfault::FEATURES, 0];
    // SAFETY: the kernel reads and writes the three words. JUSTIFICATION: as above.
    let agreed = unsafe { libc::ioctl(file.as_raw_fd(), userfault::IOCTL_API, api.as_mut_ptr()) };
    checked(agreed.into())?;
    let pagemap = File::open("/proc/self/pagemap")?;
    let mut found = userfault::Pages::default();
    let list = (&raw mut found) as u64;
    let page = list & !(PAGE as u64 - 1);
    let mut scan = userfault::scan(0, page, page + PAGE as u64, list, 1);
    // SAFETY: the kernel reads and writes the twelve words, and fills at most one entry.
    let listed =
        unsafe { libc::ioctl(pagemap.as_raw_fd(), userfault::IOCTL_SCAN, scan.as_mut_ptr()) };
    checked(listed.into())
}

fn randomisation() -> Finding {
    const ASK: libc::c_ulong = 0xffff_ffff;
    // SAFETY: asks. JUSTIFICATION: std does not know this call.
    let before = unsafe { libc::personality(ASK) };
    let fixed = before as libc::c_ulong | libc::ADDR_NO_RANDOMIZE as libc::c_ulong;
    // SAFETY: matters to what is started later, and is taken back. JUSTIFICATION: as above.
    let result = checked(unsafe { libc::personality(fixed) }.into());
    // SAFETY: as above.
    unsafe { libc::personality(before as libc::c_ulong) };
    Finding::probed("fixed addresses", result).explained(
        "programs cannot be started at the same addresses each time, nor be checked",
        SANDBOX,
    )
}

fn memory_files() -> Finding {
    Finding::probed("files in memory", memory_file(c"everypath-doctor").map(drop))
        .explained("nothing can be shared with a program; programs cannot be checked", SANDBOX)
}

fn reading_memory() -> Finding {
    let word = 0u64;
    let mut copy = 0u64;
    let remote = libc::iovec { iov_base: (&raw const word).cast_mut().cast(), iov_len: 8 };
    let local = libc::iovec { iov_base: (&raw mut copy).cast(), iov_len: 8 };
    // SAFETY: copies a word of this frame to another one.
    // JUSTIFICATION: only trying tells whether it is allowed.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
    let meaning = "counterexamples have no source lines and no stacks";
    Finding::probed("reading a program's memory", checked(read as i64))
        .explained(meaning, SANDBOX)
        .optional()
}

fn debugging() -> Finding {
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let (found, allowed) = match scope.trim() {
        "" | "0" => ("every process of one's own", true),
        // Workers allow every debugger.
        "1" => ("processes that allow it, and ours do", true),
        "2" => ("by the administrator only", false),
        _ => ("by nobody", false),
    };
    let finding = Finding::new("attaching a debugger", found);
    if allowed {
        return finding;
    }
    finding
        .lacking(NOTHING_WORKS)
        .explained(
            "everypath replay --gdb does not work",
            "as root: sysctl kernel.yama.ptrace_scope=1 (3 stays until the next start)",
        )
        .optional()
}

fn gdb(folders: &[PathBuf]) -> Finding {
    let present = !matches!(
        Program::open(Path::new("gdb"), folders),
        Err(ProgramError::Missing { .. } | ProgramError::NotExecutable(_))
    );
    if present {
        return Finding::new("gdb", "installed");
    }
    Finding::new("gdb", "not in a folder of PATH")
        .lacking(NOTHING_WORKS)
        .explained("everypath replay --gdb does not work", "install gdb")
        .optional()
}

fn c_library() -> Finding {
    // SAFETY: returns a constant string. JUSTIFICATION: std does not tell.
    let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) }.to_string_lossy();
    let finding = Finding::new("C library", format!("glibc {version}"));
    if is_known(&version) {
        return finding;
    }
    finding.lacking(NOTHING_WORKS).explained(
        "its insides are not known; programs cannot be checked",
        "use a system with glibc 2.34 or newer",
    )
}

/// Whether a version is one whose insides we know.
fn is_known(version: &str) -> bool {
    let mut numbers = version.split('.').map_while(|number| number.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= OLDEST_GLIBC
}

fn cores() -> Finding {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    Finding::new("cores", cores.to_string())
}

fn free_memory() -> Finding {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let field = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes: Option<u64> =
        field.and_then(|field| field.trim().trim_end_matches(" kB").parse().ok());
    match kilobytes {
        Some(kilobytes) => Finding::new("free memory", format!("{} MiB", kilobytes >> 10)),
        None => Finding::new("free memory", "unknown")
            .lacking(NOTHING_WORKS)
            .explained("--max-memory has no default", "mount /proc")
            .optional(),
    }
}

/// The loader opens the shim there, and the shim reads the mappings of the program.
fn proc_files() -> Finding {
    Finding::probed("/proc", File::open("/proc/self/maps").map(drop)).explained(
        "the loader cannot load the shim; programs cannot be checked",
        "mount -t proc proc /proc",
    )
}

/// A process may have only so many mappings, and restoring memory page by page makes more of them.
fn mappings() -> Finding {
    const FEW: u64 = 4096;
    let text = fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_default();
    let finding = |found: &str| Finding::new("limit of mappings", found);
    match text.trim().parse::<u64>() {
        Err(_) => finding("unknown"),
        Ok(most) if most >= FEW => finding(text.trim()),
        Ok(_) => finding(text.trim())
            .lacking(NOTHING_WORKS)
            .explained(
                "programs with many mappings cannot be checked",
                "as root: sysctl vm.max_map_count=65530",
            )
            .optional(),
    }
}

/// The real proof: a program is started, controlled, and restored.
fn proof(folders: &[PathBuf], environment: &[(OsString, OsString)]) -> Finding {
    let subject = "controlling a program";
    match control_probe(folders, environment) {
        Ok(path) => Finding::new(subject, format!("{} ran twice under control", path.display())),
        Err(why) => Finding::new(subject, why).lacking(NOTHING_WORKS).explained(
            "programs cannot be checked",
            "see what else is missing here; if nothing is, this is an internal error of everypath",
        ),
    }
}

fn control_probe(
    folders: &[PathBuf],
    environment: &[(OsString, OsString)],
) -> Result<PathBuf, String> {
    let program = Program::open(Path::new(PROBE), folders).map_err(|error| error.to_string())?;
    let launch = Launch {
        environment: environment.to_vec(),
        setup: Setup { max_steps: 1000, ..Setup::default() },
        watchdog: PATIENCE,
        ..Launch::new(&program.path)
    };
    // Twice, so that it is restored once.
    let sampling = Sampling {
        launch,
        sampler: Sampler::Random,
        seed: 0,
        executions: 2,
        workers: 1,
        keep_going: false,
    };
    let sampled = sample(&sampling, &Control::default()).map_err(|error| error.to_string())?;
    match sampled.first {
        None => Ok(program.path),
        Some(first) => Err(format!(
            "{} ended with {:?} {} under control {}",
            program.path.display(),
            first.outcome,
            first.detail,
            first.text
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_libraries_are_not_known() {
        assert!(is_known("2.34") && is_known("2.41.9000") && is_known("3.0"));
        assert!(!is_known("2.33") && !is_known("1.99") && !is_known("") && !is_known("2"));
    }

    #[test]
    fn a_missing_probe_is_said_and_is_essential() {
        let finding = proof(&[], &[]);
        assert!(finding.found.starts_with("true: no such program"), "{}", finding.found);
        assert!(finding.lack.is_some_and(|lack| lack.essential));
    }

    #[test]
    fn what_is_missing_is_explained() {
        let lack = Finding::probed("a facility", available(false))
            .explained("a meaning", "a remedy")
            .optional()
            .lack;
        let lack = lack.expect("it is not available");
        assert_eq!((lack.meaning, lack.remedy, lack.essential), ("a meaning", "a remedy", false));
        assert!(Finding::probed("a facility", available(true)).explained("", "").lack.is_none());
    }
}
