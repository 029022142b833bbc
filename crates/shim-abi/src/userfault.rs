//! How the kernel is asked for dirty pages: userfaultfd in asynchronous write-protection mode, which
//! marks pages as they are written, and `PAGEMAP_SCAN`, which lists them (Linux 6.7).

/// `UFFD_API`, the version of the interface.
pub const API: u64 = 0xaa;
/// `UFFDIO_API`: agrees on features.
pub const IOCTL_API: u64 = 0xc018_aa3f;
/// `UFFDIO_REGISTER`: names memory.
pub const IOCTL_REGISTER: u64 = 0xc020_aa00;
/// `UFFDIO_WRITEPROTECT`: protects memory.
pub const IOCTL_WRITE_PROTECT: u64 = 0xc018_aa06;
/// `PAGEMAP_SCAN`: lists pages, asked of `/proc/self/pagemap`.
pub const IOCTL_SCAN: u64 = 0xc060_6610;

/// `UFFD_USER_MODE_ONLY`: faults of the kernel are not reported, so that no privilege is needed.
pub const USER_MODE_ONLY: u64 = 1;
/// `UFFD_FEATURE_WP_ASYNC` and `UFFD_FEATURE_WP_UNPOPULATED`: the kernel notes writes and goes on, also
/// on pages that do not exist yet.
pub const FEATURES: u64 = 1 << 15 | 1 << 13;
/// `UFFDIO_REGISTER_MODE_WP`: writes are of interest.
pub const MODE_WRITE_PROTECT: u64 = 2;
/// `UFFDIO_WRITEPROTECT_MODE_WP`: protect, instead of taking the protection away.
pub const PROTECT: u64 = 1;
/// `PM_SCAN_CHECK_WPASYNC`: fail if the memory is not registered.
pub const CHECK_ASYNC: u64 = 2;
/// `PAGE_IS_WRITTEN`: pages that were written since they were protected.
const WRITTEN: u64 = 2;

/// `struct page_region`: consecutive pages of a list.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Pages {
    /// The first address.
    pub start: usize,
    /// The first address after them.
    pub end: usize,
    /// What they have in common.
    pub categories: u64,
}

/// `struct pm_scan_arg`: asks for the written pages from `start` to `end`, in at most `most` entries
/// at `list`.
pub const fn scan(flags: u64, start: u64, end: u64, list: u64, most: u64) -> [u64; 12] {
    [size_of::<[u64; 12]>() as u64, flags, start, end, 0, list, most, 0, 0, WRITTEN, 0, WRITTEN]
}
