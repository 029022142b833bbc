// Who a process is, and whose its files are.
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

static void owners(void) {
    struct stat status;
    int file = open("mine", O_RDWR | O_CREAT, 0644);
    CHECK(file >= 0);
    IS(chown("mine", -1, -1), 0);
    IS(fchown(file, getuid(), getgid()), 0);
    IS(fchown(file, 65534, -1), 0);
    IS(fstat(file, &status), 0);
    IS(status.st_uid, 65534);
    IS(status.st_gid, getgid());
    IS(symlink("mine", "link"), 0);
    IS(lchown("link", 1, 2), 0);
    IS(lstat("link", &status), 0);
    IS(status.st_uid, 1);
    IS(chown("link", 3, 4), 0);
    IS(stat("mine", &status), 0);
    IS(status.st_uid * 10 + status.st_gid, 34);
    FAILS(chown("absent", 1, 1), ENOENT);
    FAILS(fchown(-1, 1, 1), EBADF);
    IS(fchownat(AT_FDCWD, "mine", 0, 0, 0), 0);
    // A directory that was there before.
    IS(stat("folder", &status), 0);
    unsigned inode = status.st_ino, user = status.st_uid;
    IS(chown("folder", 65534, -1), 0);
    IS(chmod("folder", 0711), 0);
    IS(stat("folder", &status), 0);
    IS(status.st_uid, 65534);
    IS(status.st_mode & 07777, 0711);
    CHECK(status.st_ino == inode);
    int folder = open("folder", O_RDONLY | O_DIRECTORY);
    IS(fstat(folder, &status), 0);
    IS(status.st_uid, 65534);
    IS(fchown(folder, user, -1), 0);
    IS(fchmod(folder, 0755), 0);
    IS(close(folder), 0);
    FAILS(getxattr("mine", "user.absent", NULL, 0), ENODATA);
    IS(listxattr("mine", NULL, 0), 0);
    FAILS(getxattr("absent", "user.absent", NULL, 0), ENOENT);
    IS(fremovexattr(-1, "user.absent"), -1);
    IS(close(file), 0);
    IS(unlink("link"), 0);
}

static void describe(void) {
    IS(getpgid(0), getpgrp());
    IS(getpgid(getpid()), getpgrp());
    // 0 if whoever leads the session is in another namespace of processes.
    IS(getsid(0), getsid(getpid()));
    IS(setpriority(PRIO_PROCESS, 0, 5), 0);
    errno = 0;
    IS(getpriority(PRIO_PROCESS, 0), 5);
    FAILS(getpriority(77, 0), EINVAL);
    struct { unsigned size, policy; unsigned long flags; int nice; unsigned priority;
             unsigned long runtime, deadline, period; } attributes;
    IS(syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0), 0);
    IS(attributes.size, 48);
    IS(attributes.policy, SCHED_OTHER);
    IS(syscall(SYS_sched_setattr, 0, &attributes, 0), 0);
    FAILS(syscall(SYS_sched_getattr, 0, NULL, 48, 0), EINVAL);
    // The descriptors of a process, by their names.
    int count = 0, file = open("/dev/null", O_RDONLY);
    DIR *listed = opendir("/proc/self/fd");
    CHECK(listed != NULL);
    for (struct dirent *entry; (entry = readdir(listed)) != NULL;) count += atoi(entry->d_name) == file;
    IS(count, 1);
    IS(closedir(listed), 0);
    int other = dup(file);
    IS(syscall(SYS_close_range, file, other, 0), 0);
    FAILS(close(file), EBADF);
    FAILS(close(other), EBADF);
    FAILS(syscall(SYS_close_range, 5, 4, 0), EINVAL);
}

static void drops(void) {
    uid_t real, effective, saved;
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0}};
    IS(setgroups(0, NULL), 0);
    IS(setegid(65533), 0);
    IS(getegid(), 65533);
    IS(setresgid(65533, 65533, 65533), 0);
    IS(seteuid(65534), 0);
    IS(getuid(), 0);
    IS(geteuid(), 65534);
    FAILS(setresuid(1, 1, 1), EPERM);
    // What belongs to root only.
    FAILS(open("secret", O_RDONLY), EACCES);
    FAILS(open("mine", O_WRONLY), EACCES);
    FAILS(chown("mine", 65534, -1), EPERM);
    int file = open("mine", O_RDONLY);
    CHECK(file >= 0);
    IS(close(file), 0);
    IS(seteuid(0), 0);
    file = open("secret", O_RDONLY);
    CHECK(file >= 0);
    IS(close(file), 0);
    IS(setuid(65534), 0);
    IS(getresuid(&real, &effective, &saved), 0);
    IS(real == 65534 && effective == 65534 && saved == 65534, 1);
    FAILS(setuid(0), EPERM);
    FAILS(setreuid(0, -1), EPERM);
    FAILS(setgid(0), EPERM);
    IS(setgid(65533), 0);
    FAILS(setgroups(0, NULL), EPERM);
    FAILS(open("secret", O_RDONLY), EACCES);
    IS(syscall(SYS_capset, &head, data), 0);
    data[0].effective = 1;
    FAILS(syscall(SYS_capset, &head, data), EPERM);
    IS(syscall(SYS_capget, &head, data), 0);
    IS(data[0].effective, 0);
}

int main(int argc, char **argv) {
    CHECK(argc > 1);
    IS(chdir(argv[1]), 0);
    describe();
    if (geteuid() == 0) {
        owners();
        drops();
    }
    puts("as it was");
    return 0;
}
