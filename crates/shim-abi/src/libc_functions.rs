//! Functions of libc whose memory accesses are known by a summary.
//!
//! libc itself is not rewritten: its vector code reads past its arguments, and its own locks are not
//! all seen. Calls of these functions from modules that are rewritten lead to the shim, which records
//! what they access, and calls them.

/// The names, in the order in which the shim tells their addresses.
pub const LIBC_FUNCTIONS: [&str; 38] = [
    "memcpy",
    "memmove",
    "mempcpy",
    "memset",
    "memcmp",
    "bcmp",
    "memchr",
    "memrchr",
    "memmem",
    "strlen",
    "strnlen",
    "strcpy",
    "stpcpy",
    "strncpy",
    "strcat",
    "strncat",
    "strcmp",
    "strncmp",
    "strcasecmp",
    "strncasecmp",
    "strchr",
    "strrchr",
    "strstr",
    "strdup",
    "strndup",
    "strtol",
    "strtoul",
    "strtoll",
    "strtoull",
    "strtod",
    "atoi",
    "atol",
    "qsort",
    "fputs",
    "puts",
    "fwrite",
    "fread",
    "fgets",
];
