//! Inspecting a program file before it is started.
//!
//! Control rests on code that the dynamic loader brings into the program, so only some files can
//! be checked. What a file is, is said from its first bytes; nothing is run.

use object::read::elf::{Dynamic, ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{LittleEndian, Object as _, ObjectSection as _, ObjectSymbol as _, elf};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const SETUID: u32 = 0o4000;
const SETGID: u32 = 0o2000;
const EXECUTABLE: u32 = 0o111;
const ELF_MAGIC: &[u8] = b"\x7FELF";
/// Where an ELF file says whether it is of 32 or 64 bits.
const EI_CLASS: usize = 4;
/// Where an ELF file names its machine.
const E_MACHINE: Range<usize> = 18..20;

/// A program that can be run under control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Where it was found.
    pub path: PathBuf,
    /// XXH3 of its contents, 128 bits in hexadecimal.
    pub hash: String,
    /// The dynamic loader it asks for.
    pub interpreter: PathBuf,
    /// The libraries it asks for.
    pub needed: Vec<String>,
}

/// Why a file cannot be checked: what it is, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// Nothing has this name.
    #[error("{}: no such program{}", path.display(), suggestion.as_ref().map_or_else(
        || "; give its path, or its name if it is in a folder of PATH".to_string(),
        |found| format!("; did you mean {}?", found.display()),
    ))]
    Missing {
        /// The name that was given.
        path: PathBuf,
        /// A file that may have been meant.
        suggestion: Option<PathBuf>,
    },
    /// A folder.
    #[error("{}: is a directory; give the path of a program", .0.display())]
    Directory(PathBuf),
    /// A pipe, a device or a socket.
    #[error("{}: is not a regular file; give the path of a program", .0.display())]
    Special(PathBuf),
    /// A file without permission to execute it.
    #[error("{path}: is not executable; if it is a program: chmod +x {path}", path = .0.display())]
    NotExecutable(PathBuf),
    /// A file without contents.
    #[error("{}: is empty; was its build cut short?", .0.display())]
    Empty(PathBuf),
    /// Neither ELF nor a script.
    #[error("{}: is not a program: neither an ELF file nor a script", .0.display())]
    Foreign(PathBuf),
    /// An ELF file that is not whole, or not one to start.
    #[error("{}: is not a program that can be started: {detail}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// The file is there, and cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A text with an interpreter.
    #[error(
        "{path}: is a script; check its interpreter instead: everypath check -- {interpreter} {path}",
        path = path.display()
    )]
    Script {
        /// The file.
        path: PathBuf,
        /// What its first line asks for, with the argument.
        interpreter: String,
    },
    /// A program without dynamic loader.
    #[error(
        "{}: is statically linked, and only dynamically linked programs can be controlled; \
         link it dynamically (C: without -static; Rust: a target that ends in -linux-gnu)",
        .0.display()
    )]
    Static(PathBuf),
    /// A program for another machine.
    #[error(
        "{}: is a program for {machine}, and only x86-64 can be controlled; \
         build it for x86_64-unknown-linux-gnu",
        path.display()
    )]
    Architecture {
        /// The file.
        path: PathBuf,
        /// The machine it is for.
        machine: String,
    },
    /// A program with the runtime of a sanitizer.
    #[error(
        "{}: is built with {sanitizer}, whose runtime takes over the memory and the functions by which \
         programs are controlled; build it without -fsanitize (double frees, invalid frees and small \
         heap overflows are found without)",
        path.display()
    )]
    Sanitized {
        /// The file.
        path: PathBuf,
        /// Whose runtime.
        sanitizer: &'static str,
    },
    /// A program that runs as somebody else.
    #[error(
        "{}: is setuid or setgid, or has capabilities, and the loader lets nobody control such \
         programs; check a copy of it without these",
        .0.display()
    )]
    Privileged(PathBuf),
}

impl ProgramError {
    /// What is wrong with the program, without its path: for a message that names it already.
    pub fn reason(&self) -> String {
        let text = self.to_string();
        let path = format!("{}: ", self.path().display());
        text.strip_prefix(&path).map(str::to_owned).unwrap_or(text)
    }

    fn path(&self) -> &Path {
        match self {
            Self::Missing { path, .. }
            | Self::Damaged { path, .. }
            | Self::Unreadable { path, .. }
            | Self::Script { path, .. }
            | Self::Architecture { path, .. }
            | Self::Sanitized { path, .. }
            | Self::Directory(path)
            | Self::Special(path)
            | Self::NotExecutable(path)
            | Self::Empty(path)
            | Self::Foreign(path)
            | Self::Static(path)
            | Self::Privileged(path) => path,
        }
    }

    /// Whether the request is wrong, rather than the program one that cannot be controlled.
    pub fn is_request(&self) -> bool {
        match self {
            Self::Missing { .. }
            | Self::Directory(_)
            | Self::Special(_)
            | Self::NotExecutable(_)
            | Self::Empty(_)
            | Self::Foreign(_)
            | Self::Damaged { .. }
            | Self::Unreadable { .. } => true,
            Self::Script { .. }
            | Self::Static(_)
            | Self::Architecture { .. }
            | Self::Sanitized { .. }
            | Self::Privileged(_) => false,
        }
    }
}

impl Program {
    /// Finds the program as `execvp` would, in the folders given unless the name has a slash, and
    /// looks at it.
    pub fn open(name: &Path, folders: &[PathBuf]) -> Result<Self, ProgramError> {
        let path = find(name, folders)?;
        let metadata = fs::metadata(&path).map_err(|error| unreadable(&path, error))?;
        if metadata.is_dir() {
            return Err(ProgramError::Directory(path));
        }
        if !metadata.is_file() {
            return Err(ProgramError::Special(path));
        }
        let mode = metadata.permissions().mode();
        if mode & EXECUTABLE == 0 {
            return Err(ProgramError::NotExecutable(path));
        }
        if is_privileged(&path, mode) {
            return Err(ProgramError::Privileged(path));
        }
        let bytes = fs::read(&path).map_err(|error| unreadable(&path, error))?;
        Self::examine(path, &bytes)
    }

    fn examine(path: PathBuf, bytes: &[u8]) -> Result<Self, ProgramError> {
        if bytes.is_empty() {
            return Err(ProgramError::Empty(path));
        }
        if let Some(line) = bytes.strip_prefix(b"#!") {
            return Err(match interpreter_of(line) {
                Some(interpreter) => ProgramError::Script { path, interpreter },
                None => ProgramError::Foreign(path),
            });
        }
        if !bytes.starts_with(ELF_MAGIC) {
            return Err(ProgramError::Foreign(path));
        }
        if let Some(machine) = other_machine(bytes) {
            return Err(ProgramError::Architecture { path, machine });
        }
        match dynamic(bytes) {
            Ok(Some((_, needed))) if let Some(sanitizer) = sanitizer(bytes, &needed) => {
                Err(ProgramError::Sanitized { path, sanitizer })
            }
            Ok(Some((interpreter, needed))) => {
                let hash = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(bytes));
                Ok(Program { path, hash, interpreter, needed })
            }
            Ok(None) => Err(ProgramError::Static(path)),
            Err(detail) => Err(ProgramError::Damaged { path, detail }),
        }
    }
}

/// The loader that a program asks for.
pub(crate) fn interpreter(path: &Path) -> io::Result<PathBuf> {
    let other = |what: String| io::Error::other(what);
    match dynamic(&fs::read(path)?).map_err(other)? {
        Some((interpreter, _)) => Ok(interpreter),
        None => Err(other("it is statically linked".into())),
    }
}

/// Whether the loader treats a program as privileged, for its bits or for capabilities of its file.
fn is_privileged(path: &Path, mode: u32) -> bool {
    let mut value = [0; 64];
    mode & (SETUID | SETGID) != 0
        || rustix::fs::getxattr(path, c"security.capability", &mut value).is_ok()
}

/// The library of ThreadSanitizer's runtime that a program asks for, if it does.
pub(crate) fn thread_sanitizer(path: &Path) -> io::Result<Option<String>> {
    let needed = dynamic(&fs::read(path)?).map_err(io::Error::other)?;
    let mut needed = needed.into_iter().flat_map(|(_, needed)| needed);
    Ok(needed.find(|name| name.starts_with(THREAD_SANITIZER)))
}

/// The goals that a program names (`sometimes` and `reachable` of `everypath-verify`): texts, each with
/// a zero at its end, in a section of their own.
pub(crate) fn goals(path: &Path) -> io::Result<Vec<String>> {
    let bytes = fs::read(path)?;
    let file = ElfFile64::<LittleEndian>::parse(&*bytes).map_err(io::Error::other)?;
    let Some(section) = file.section_by_name("everypath_goals") else { return Ok(Vec::new()) };
    let texts = section.data().map_err(io::Error::other)?.split(|&byte| byte == 0);
    let texts = texts.filter(|text| !text.is_empty());
    Ok(texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect())
}

/// The name of ThreadSanitizer's runtime, up to its version. Something else takes its place.
const THREAD_SANITIZER: &str = "libtsan.so";

/// The sanitizer whose runtime a program contains, or asks for.
fn sanitizer(bytes: &[u8], needed: &[String]) -> Option<&'static str> {
    const LINKED_STATICALLY: &str = "/";
    const RUNTIMES: [(&str, &str, &str); 5] = [
        ("libasan.so", "__asan_init", "AddressSanitizer"),
        ("libhwasan.so", "__hwasan_init", "HWAddressSanitizer"),
        (LINKED_STATICALLY, "__tsan_init", "ThreadSanitizer and its static runtime"),
        ("liblsan.so", "__lsan_init", "LeakSanitizer"),
        ("libmsan.so", "__msan_init", "MemorySanitizer"),
    ];
    let file = ElfFile64::<LittleEndian>::parse(bytes).ok()?;
    let defines = |function: &str| {
        let mut symbols = file.dynamic_symbols().chain(file.symbols());
        symbols.any(|symbol| symbol.is_definition() && symbol.name() == Ok(function))
    };
    let is_there = |(library, function, _): &&(&str, &str, &str)| {
        needed.iter().any(|name| name.starts_with(library)) || defines(function)
    };
    RUNTIMES.iter().find(is_there).map(|(_, _, name)| *name)
}

fn unreadable(path: &Path, source: io::Error) -> ProgramError {
    ProgramError::Unreadable { path: path.to_path_buf(), source }
}

/// The file that a name stands for.
fn find(name: &Path, folders: &[PathBuf]) -> Result<PathBuf, ProgramError> {
    let missing = |suggestion| ProgramError::Missing { path: name.to_path_buf(), suggestion };
    if name.as_os_str().as_bytes().contains(&b'/') {
        return if name.exists() { Ok(name.to_path_buf()) } else { Err(missing(None)) };
    }
    if name.as_os_str().is_empty() {
        return Err(missing(None));
    }
    let candidates: Vec<PathBuf> = folders.iter().map(|folder| folder.join(name)).collect();
    let is_executable = |path: &&PathBuf| {
        fs::metadata(path).is_ok_and(|metadata| {
            metadata.is_file() && metadata.permissions().mode() & EXECUTABLE != 0
        })
    };
    // As execvp does, pass by what cannot be executed, and complain about it at the end.
    let found = candidates.iter().find(is_executable);
    if let Some(found) = found.or_else(|| candidates.iter().find(|path| path.is_file())) {
        return Ok(found.clone());
    }
    let here = Path::new(".").join(name);
    Err(missing(here.exists().then_some(here)))
}

/// What a script's first line asks to be run with; `env` is passed by, for it only starts another.
fn interpreter_of(line: &[u8]) -> Option<String> {
    let line = line.split(|&byte| byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let mut words: Vec<&str> = line.split_whitespace().collect();
    if words.len() > 1 && words[0].ends_with("/env") {
        words.remove(0);
    }
    (!words.is_empty()).then(|| words.join(" "))
}

/// The machine that an ELF file is for, unless it is x86-64.
fn other_machine(bytes: &[u8]) -> Option<String> {
    let &[class, order, .., low, high] = bytes.get(EI_CLASS..E_MACHINE.end)? else { return None };
    let number = match order {
        elf::ELFDATA2MSB => u16::from_be_bytes([low, high]),
        _ => u16::from_le_bytes([low, high]),
    };
    let name = match number {
        elf::EM_X86_64 if class == elf::ELFCLASS64 => return None,
        elf::EM_X86_64 => "x32",
        elf::EM_386 => "32-bit x86",
        elf::EM_AARCH64 => "64-bit ARM",
        elf::EM_ARM => "32-bit ARM",
        elf::EM_RISCV => "RISC-V",
        elf::EM_PPC64 => "64-bit PowerPC",
        elf::EM_S390 => "S/390",
        _ => return Some(format!("ELF machine {number}")),
    };
    Some(name.to_string())
}

/// The dynamic loader and the libraries a program asks for; `None` if it is static.
fn dynamic(bytes: &[u8]) -> Result<Option<(PathBuf, Vec<String>)>, String> {
    let file = ElfFile64::<LittleEndian>::parse(bytes).map_err(|error| error.to_string())?;
    match file.elf_header().e_type(LittleEndian) {
        elf::ET_EXEC | elf::ET_DYN => {}
        elf::ET_REL => return Err("it is an object file; link it first".to_string()),
        elf::ET_CORE => return Err("it is a core dump".to_string()),
        other => return Err(format!("its ELF type is {other}")),
    }
    let mut interpreter = None;
    for segment in file.elf_program_headers() {
        let found = segment.interpreter(LittleEndian, bytes).map_err(|error| error.to_string())?;
        interpreter = interpreter.or(found);
    }
    let table = file.elf_dynamic_table().map_err(|error| error.to_string())?;
    let Some(interpreter) = interpreter else {
        let is_program = |entry: &Dynamic| {
            entry.tag == elf::DT_FLAGS_1 && entry.val & u64::from(elf::DF_1_PIE) != 0
        };
        let is_library = !table.is_empty() && !table.iter().any(|entry| is_program(&entry));
        return match is_library {
            true => Err("it is a shared library".to_string()),
            false => Ok(None),
        };
    };
    let mut needed = Vec::new();
    for entry in table.iter().filter(|entry| entry.tag == elf::DT_NEEDED) {
        let name = table.string(entry).map_err(|error| error.to_string())?;
        needed.push(String::from_utf8_lossy(name).into_owned());
    }
    Ok(Some((PathBuf::from(OsStr::from_bytes(interpreter)), needed)))
}
