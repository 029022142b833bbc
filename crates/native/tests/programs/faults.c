// Bad addresses in syscalls are EFAULT, never a crash; and the kernel writes to any memory that can
// be written, also to pages that nothing has written so far.
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>

#define WILD ((void *)0x10)
#define BEYOND ((void *)0xffff800000000000)
#define CROOKED ((void *)0x8000000000000000)

// Pages of the program that nothing has written before a syscall does.
static struct {
    char a[8192], cwd[8192], link[8192], name[8192], system[8192], time[8192], status[8192],
        limits[8192], bytes[8192], extended[8192];
} fresh __attribute__((aligned(4096)));

static void *const bad[] = {NULL, WILD, BEYOND, CROOKED};

static void names(void *at) {
    struct stat status;
    FAILS(open(at, O_RDONLY), EFAULT);
    FAILS(openat(AT_FDCWD, at, O_RDWR | O_CREAT, 0600), EFAULT);
    FAILS(access(at, F_OK), EFAULT);
    FAILS(unlink(at), EFAULT);
    FAILS(rmdir(at), EFAULT);
    FAILS(mkdir(at, 0700), EFAULT);
    FAILS(rename(at, "/tmp/none"), EFAULT);
    FAILS(chdir(at), EFAULT);
    FAILS(chmod(at, 0600), EFAULT);
    FAILS(link(at, "/tmp/none"), EFAULT);
    FAILS(symlink(at, "/tmp/none"), EFAULT);
    FAILS(truncate(at, 0), EFAULT);
    FAILS(readlink(at, (char *)&status, sizeof status), EFAULT);
    FAILS(stat(at, &status), EFAULT);
    FAILS(lstat(at, &status), EFAULT);
    FAILS(syscall(SYS_statx, 0, at, 0, 0xfff, fresh.a), EFAULT);
    FAILS(syscall(SYS_stat, at, &status), EFAULT);
}

static void buffers(void *at) {
    int ends[2], file = open("/proc/self/exe", O_RDONLY), zero = open("/dev/zero", O_RDONLY);
    CHECK(file >= 0 && zero >= 0);
    IS(pipe(ends), 0);
    FAILS(pipe(at), EFAULT);
    FAILS(read(file, at, 1), EFAULT);
    FAILS(pread(file, at, 1, 0), EFAULT);
    FAILS(read(zero, at, 1), EFAULT);
    FAILS(write(ends[1], at, 1), EFAULT);
    IS(write(ends[1], "x", 1), 1);
    FAILS(read(ends[0], at, 1), EFAULT);
    if (at < (void *)4096) IS(read(ends[0], at, 0), 0);
    else FAILS(read(ends[0], at, 0), EFAULT);
    FAILS(readv(file, at, 1), EFAULT);
    struct iovec piece = {at, 1};
    FAILS(readv(file, &piece, 1), EFAULT);
    FAILS(writev(ends[1], &piece, 1), EFAULT);
    FAILS(read(-1, at, 1), EBADF);
    FAILS(fstat(file, at), EFAULT);
    FAILS(stat("/", at), EFAULT);
    FAILS(statfs("/", at), EFAULT);
    FAILS(syscall(SYS_statx, AT_FDCWD, "/", 0, 0xfff, at), EFAULT);
    FAILS(syscall(SYS_getcwd, at, 100), EFAULT);
    FAILS(readlink("/proc/self/exe", at, 100), EFAULT);
    FAILS(syscall(SYS_getdents64, open("/", O_RDONLY | O_DIRECTORY), at, 1000), EFAULT);
    IS(close(ends[0]) + close(ends[1]) + close(file) + close(zero), 0);
}

static void others(void *at) {
    struct timespec short_time = {0, 1000};
    FAILS(nanosleep(at, NULL), EFAULT);
    IS(clock_nanosleep(CLOCK_MONOTONIC, 0, at, NULL), EFAULT);
    FAILS(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, at), EFAULT);
    FAILS(getrusage(RUSAGE_SELF, at), EFAULT);
    FAILS(syscall(SYS_getrandom, at, 8, 0), EFAULT);
    FAILS(syscall(SYS_rt_sigpending, at, 8), EFAULT);
    FAILS(sigpending(at), EFAULT);
    FAILS(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, at ? at : WILD, 8), EFAULT);
    FAILS(syscall(SYS_rt_sigaction, SIGUSR1, at ? at : WILD, NULL, 8), EFAULT);
    FAILS(syscall(SYS_rt_sigtimedwait, at, NULL, &short_time, 8), EFAULT);
    FAILS(syscall(SYS_futex, at, 0, 0, &short_time, NULL, 0), EFAULT);
    FAILS(getitimer(ITIMER_REAL, at), EFAULT);
    FAILS(setitimer(ITIMER_REAL, at ? at : WILD, NULL), EFAULT);
    FAILS(uname(at), EFAULT);
    FAILS(syscall(SYS_sysinfo, at), EFAULT);
    FAILS(syscall(SYS_times, at ? at : WILD), EFAULT);
    FAILS(syscall(SYS_prctl, 16, at), EFAULT);
    FAILS(syscall(SYS_prctl, 15, at), EFAULT);
    FAILS(syscall(SYS_sched_getaffinity, 0, 8, at), EFAULT);
    FAILS(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, at ? at : WILD), EFAULT);
}

static void network(void *at) {
    struct sockaddr_un name = {AF_UNIX, "/nobody/listens"};
    struct epoll_event event = {0};
    int fd = socket(AF_INET, SOCK_DGRAM, 0), ends[2], all = epoll_create1(0);
    CHECK(fd >= 0 && all >= 0);
    IS(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    FAILS(socketpair(AF_UNIX, SOCK_STREAM, 0, at), EFAULT);
    FAILS(bind(fd, at, 16), EFAULT);
    FAILS(connect(fd, at, 16), EFAULT);
    FAILS(connect(-1, at, 16), EBADF);
    FAILS(sendto(fd, "x", 1, 0, at ? at : WILD, 16), EFAULT);
    FAILS(send(ends[0], at, 1, 0), EFAULT);
    IS(send(ends[0], "x", 1, 0), 1);
    FAILS(recv(ends[1], at, 1, 0), EFAULT);
    FAILS(sendmsg(ends[0], at, 0), EFAULT);
    FAILS(recvmsg(ends[1], at, 0), EFAULT);
    FAILS(getsockname(fd, (void *)&name, at), EFAULT);
    FAILS(getsockopt(fd, SOL_SOCKET, SO_TYPE, fresh.a, at), EFAULT);
    FAILS(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, at, 4), EFAULT);
    FAILS(poll(at, 1, 0), EFAULT);
    FAILS(select(1, at ? at : WILD, NULL, NULL, NULL), EFAULT);
    FAILS(epoll_ctl(all, EPOLL_CTL_ADD, ends[0], at), EFAULT);
    event.events = EPOLLOUT;
    IS(epoll_ctl(all, EPOLL_CTL_ADD, ends[0], &event), 0);
    FAILS(epoll_wait(all, at, 1, 0), EFAULT);
    FAILS(timerfd_settime(timerfd_create(CLOCK_MONOTONIC, 0), 0, at, NULL), EFAULT);
    IS(close(fd) + close(ends[0]) + close(ends[1]) + close(all), 0);
}

// Transfers end where memory does.
static void edges(void) {
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    int file = open("/proc/self/exe", O_RDONLY);
    IS(read(file, pages + 4096, 4096), 4096);
    IS(memcmp(pages + 4097, "ELF", 3), 0);
    IS(lseek(file, 0, SEEK_SET), 0);
    IS(read(file, pages + 8192 - 4, 4), 4);
    IS(memcmp(pages + 8192 - 3, "ELF", 3), 0);
    // A string may end where the page does.
    strcpy(pages + 8192 - 2, "/");
    IS(access(pages + 8192 - 2, F_OK), 0);
    IS(close(file), 0);
}

// What the kernel would refuse to write to if a page were read-only.
static void untouched(void) {
    CHECK(getcwd(fresh.cwd + 4096, 4096) == fresh.cwd + 4096);
    CHECK(fresh.cwd[4096] == '/');
    CHECK(readlink("/proc/self/exe", fresh.link + 4000, 4096) > 0);
    CHECK(fresh.link[4000] == '/');
    IS(uname((void *)(fresh.name + 4096 - 200)), 0);
    IS(strcmp(fresh.name + 4096 - 200, "Linux"), 0);
    IS(statfs("/", (void *)(fresh.system + 4096)), 0);
    IS(stat("/", (void *)(fresh.status + 4096 - 40)), 0);
    IS(getrlimit(RLIMIT_CORE, (void *)(fresh.limits + 4096)), 0);
    IS(syscall(SYS_statx, AT_FDCWD, "/", 0, 0xfff, fresh.extended + 4096), 0);
    int groups = getgroups(1000, (void *)fresh.a);
    CHECK(groups >= 0);
    IS(nanosleep(&(struct timespec){0, 1000}, (void *)fresh.time), 0);
}

int main(void) {
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        names(bad[i]);
        buffers(bad[i]);
        others(bad[i]);
        network(bad[i]);
    }
    puts("bad addresses");
    edges();
    puts("edges");
    untouched();
    puts("untouched pages");
    return 0;
}
