//! Functions of libc whose memory accesses are known.
//!
//! libc itself is not rewritten: its vector code reads past its arguments, and its own locks are not
//! all seen. Calls of functions with a summary from modules that are rewritten lead to the shim, which
//! records what they access, and calls them.

/// Gives a macro the names of the functions with a summary.
#[macro_export]
macro_rules! for_libc_functions {
    ($then:ident) => {
        $then! {
            memcpy memmove mempcpy memset memcmp bcmp memchr memrchr memmem strlen strnlen
            strcpy stpcpy strncpy strcat strncat strcmp strncmp strcasecmp strncasecmp strchr
            strrchr strstr strdup strndup strtol strtoul strtoll strtoull strtod atoi atol qsort
            fputs puts fwrite fread fgets perror fopen fopen64 mktime localtime_r gmtime_r
            strftime rand_r getcwd realpath readlink stat stat64 lstat lstat64 statx
            __xpg_strerror_r __memcpy_chk __memmove_chk __memset_chk __strcpy_chk __strncpy_chk
            __strcat_chk printf fprintf dprintf sprintf snprintf asprintf vprintf vfprintf
            vdprintf vsprintf vsnprintf vasprintf __printf_chk __fprintf_chk __sprintf_chk
            __snprintf_chk __vprintf_chk __vfprintf_chk __vsprintf_chk __vsnprintf_chk
        }
    };
}

macro_rules! names {
    ($($name:ident)*) => {
        /// The functions with a summary, in the order in which the shim tells their addresses.
        pub const LIBC_FUNCTIONS: [&str; [$(stringify!($name)),*].len()] = [$(stringify!($name)),*];
    };
}

for_libc_functions!(names);

/// Functions that access no memory but their own and that of the C library.
const WITHOUT_ACCESSES: &[&str] = &[
    "abort",
    "abs",
    "at_quick_exit",
    "atexit",
    "clearerr",
    "daemon",
    "dl_iterate_phdr",
    "dlclose",
    "dlerror",
    "dlsym",
    "drand48",
    "endpwent",
    "exit",
    "fclose",
    "feof",
    "ferror",
    "fflush",
    "fgetc",
    "fileno",
    "flockfile",
    "fputc",
    "fputc_unlocked",
    "fseek",
    "fseeko",
    "ftell",
    "ftello",
    "ftrylockfile",
    "funlockfile",
    "getc",
    "getc_unlocked",
    "getchar",
    "getchar_unlocked",
    "getegid",
    "getenv",
    "geteuid",
    "getgid",
    "getpagesize",
    "getpgrp",
    "getppid",
    "getpriority",
    "getuid",
    "gnu_get_libc_version",
    "htonl",
    "htons",
    "isalnum",
    "isalpha",
    "isatty",
    "iscntrl",
    "isdigit",
    "isgraph",
    "islower",
    "isprint",
    "ispunct",
    "isspace",
    "isupper",
    "isxdigit",
    "labs",
    "llabs",
    "localeconv",
    "lrand48",
    "mrand48",
    "nice",
    "ntohl",
    "ntohs",
    "putc",
    "putc_unlocked",
    "putchar",
    "putchar_unlocked",
    "quick_exit",
    "rand",
    "random",
    "rewind",
    "sched_get_priority_max",
    "sched_get_priority_min",
    "secure_getenv",
    "setlocale",
    "srand",
    "srand48",
    "srandom",
    "strerror",
    "sysconf",
    "textdomain",
    "toascii",
    "tolower",
    "toupper",
    "umask",
    "ungetc",
];

/// Families of such functions: those of the threads library work on objects that are modelled, and those of
/// the language's runtime on what no program uses.
const FAMILIES: [&str; 10] = [
    "pthread_", "sem_", "mtx_", "cnd_", "thrd_", "tss_", "__cxa_", "__libc_", "__ctype_",
    "_Unwind_",
];
const OF_THE_RUNTIME: [&str; 7] = [
    "__errno_location",
    "__h_errno_location",
    "__stack_chk_fail",
    "__chk_fail",
    "__tls_get_addr",
    "__assert_fail",
    "__fortify_fail",
];

/// Whether a function of libc accesses no memory that threads of a program could share, but objects that
/// are modelled.
pub fn accesses_no_memory(name: &str) -> bool {
    WITHOUT_ACCESSES.contains(&name)
        || OF_THE_RUNTIME.contains(&name)
        || FAMILIES.iter().any(|family| name.starts_with(family))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_function_is_known_twice() {
        for name in LIBC_FUNCTIONS {
            assert!(!accesses_no_memory(name), "{name}");
            assert_eq!(LIBC_FUNCTIONS.iter().filter(|known| **known == name).count(), 1, "{name}");
        }
    }
}
