// Files: those of the machine are read as they are, what is written stays within the execution.
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

static char folder[256];

static const char *in_folder(const char *name) {
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, 512, "%s/%s", folder, name);
    return path;
}

static void descriptors(void) {
    char text[32] = "";
    int fd = open(in_folder("given"), O_RDONLY);
    CHECK(fd >= 3);
    IS(read(fd, text, sizeof text), 11);
    IS(strcmp(text, "given text\n"), 0);
    IS(read(fd, text, sizeof text), 0);
    IS(lseek(fd, 6, SEEK_SET), 6);
    IS(read(fd, text, 4), 4);
    IS(memcmp(text, "text", 4), 0);
    IS(lseek(fd, -5, SEEK_END), 6);
    IS(lseek(fd, 1, SEEK_CUR), 7);
    FAILS(lseek(fd, -20, SEEK_CUR), EINVAL);
    IS(pread(fd, text, 5, 0), 5);
    IS(memcmp(text, "given", 5), 0);
    IS(lseek(fd, 0, SEEK_CUR), 7);
    sync();
    IS(fsync(fd) + fdatasync(fd) + syncfs(fd), 0);
    FAILS(write(fd, "x", 1), EBADF);
    int copy = dup(fd);
    CHECK(copy > fd);
    IS(lseek(copy, 0, SEEK_CUR), 7);
    IS(lseek(copy, 2, SEEK_SET), 2);
    IS(lseek(fd, 0, SEEK_CUR), 2);
    IS(dup2(fd, 120), 120);
    IS(fcntl(fd, F_DUPFD, 110), 110);
    IS(fcntl(fd, F_GETFD), 0);
    IS(fcntl(fd, F_SETFD, FD_CLOEXEC), 0);
    IS(fcntl(fd, F_GETFD), FD_CLOEXEC);
    IS(fcntl(copy, F_GETFD), 0);
    IS(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    struct stat status, same;
    IS(fstat(fd, &status), 0);
    CHECK(S_ISREG(status.st_mode) && status.st_size == 11);
    IS(stat(in_folder("given"), &same), 0);
    CHECK(same.st_ino == status.st_ino && same.st_size == 11);
    int left;
    IS(lseek(fd, 4, SEEK_SET), 4);
    IS(ioctl(fd, FIONREAD, &left), 0);
    IS(left, 7);
    IS(lseek(fd, 2, SEEK_DATA), 2);
    IS(lseek(fd, 2, SEEK_HOLE), 11);
    FAILS(lseek(fd, 11, SEEK_DATA), ENXIO);
    FAILS(lseek(fd, 0, 77), EINVAL);
    IS(ioctl(fd, FIONCLEX), 0);
    IS(fcntl(fd, F_GETFD), 0);
    IS(ioctl(fd, FIOCLEX), 0);
    IS(fcntl(fd, F_GETFD), FD_CLOEXEC);
    IS(dup3(fd, 121, O_CLOEXEC), 121);
    IS(fcntl(121, F_GETFD), FD_CLOEXEC);
    FAILS(dup3(fd, fd, 0), EINVAL);
    FAILS(dup3(fd, 122, 77), EINVAL);
    IS(close(121), 0);
    IS(lseek(fd, 2, SEEK_SET), 2);
    IS(close(fd), 0);
    FAILS(read(fd, text, 1), EBADF);
    FAILS(close(fd), EBADF);
    IS(read(120, text, 1), 1);
    IS(close(copy) + close(120) + close(110), 0);
    FAILS(open(in_folder("missing"), O_RDONLY), ENOENT);
    FAILS(open(in_folder("missing/file"), O_RDWR | O_CREAT, 0600), ENOENT);
    FAILS(open(in_folder("given/file"), O_RDWR | O_CREAT, 0600), ENOTDIR);
    FAILS(open(folder, O_WRONLY), EISDIR);
    IS(access(in_folder("given"), R_OK), 0);
    FAILS(access(in_folder("missing"), F_OK), ENOENT);
    FAILS(stat(in_folder("missing"), &status), ENOENT);
    puts("descriptors");
}

static void writing(void) {
    char text[32] = "";
    struct stat status;
    // Nothing of an earlier execution is there.
    FAILS(open(in_folder("new"), O_RDONLY), ENOENT);
    int fd = open(in_folder("new"), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    CHECK(fd >= 0);
    IS(fcntl(fd, F_GETFD), FD_CLOEXEC);
    FAILS(open(in_folder("new"), O_RDWR | O_CREAT | O_EXCL, 0640), EEXIST);
    IS(write(fd, "hello world", 11), 11);
    IS(pwrite(fd, "W", 1, 6), 1);
    IS(lseek(fd, 0, SEEK_SET), 0);
    IS(read(fd, text, 20), 11);
    IS(strcmp(text, "hello World"), 0);
    IS(ftruncate(fd, 5), 0);
    IS(fstat(fd, &status), 0);
    CHECK(status.st_size == 5 && (status.st_mode & 0777) == 0640);
    IS(lseek(fd, 8, SEEK_SET), 8);
    IS(write(fd, "!", 1), 1);
    IS(pread(fd, text, 20, 0), 9);
    IS(memcmp(text, "hello\0\0\0!", 9), 0);
    int appending = open(in_folder("new"), O_WRONLY | O_APPEND);
    IS(write(appending, "end", 3), 3);
    FAILS(read(appending, text, 1), EBADF);
    IS(fcntl(appending, F_GETFL) & (O_ACCMODE | O_APPEND), O_WRONLY | O_APPEND);
    IS(close(appending), 0);
    IS(stat(in_folder("new"), &status), 0);
    IS(status.st_size, 12);
    IS(rename(in_folder("new"), in_folder("new")), 0);
    IS(rename(in_folder("new"), in_folder("renamed")), 0);
    FAILS(access(in_folder("new"), F_OK), ENOENT);
    IS(pread(fd, text, 20, 0), 12);
    // A file without a name lives as long as somebody has it open.
    IS(unlink(in_folder("renamed")), 0);
    FAILS(unlink(in_folder("renamed")), ENOENT);
    IS(pread(fd, text, 20, 0), 12);
    IS(memcmp(text, "hello\0\0\0!end", 12), 0);
    IS(close(fd), 0);
    fd = open(in_folder("renamed"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    IS(lseek(fd, 0, SEEK_END), 0);
    IS(close(fd), 0);
    IS(unlink(in_folder("renamed")), 0);
    puts("writing");
}

// Several names of one file.
static void links(void) {
    struct stat status, same;
    char text[32] = "";
    int fd = open(in_folder("first"), O_RDWR | O_CREAT, 0600);
    IS(write(fd, "shared", 6), 6);
    IS(link(in_folder("first"), in_folder("second")), 0);
    FAILS(link(in_folder("first"), in_folder("second")), EEXIST);
    FAILS(link(in_folder("missing"), in_folder("third")), ENOENT);
    FAILS(link(in_folder("first"), in_folder("missing/third")), ENOENT);
    FAILS(link(folder, in_folder("third")), EPERM);
    IS(stat(in_folder("second"), &status), 0);
    IS(fstat(fd, &same), 0);
    CHECK(status.st_ino == same.st_ino && status.st_nlink == 2 && same.st_nlink == 2);
    int other = open(in_folder("second"), O_RDWR);
    IS(pwrite(other, "S", 1, 0), 1);
    IS(pread(fd, text, 20, 0), 6);
    IS(memcmp(text, "Shared", 6), 0);
    // Names of one file stay what they are.
    IS(rename(in_folder("first"), in_folder("second")), 0);
    IS(access(in_folder("first"), F_OK) + access(in_folder("second"), F_OK), 0);
    IS(unlink(in_folder("first")), 0);
    FAILS(access(in_folder("first"), F_OK), ENOENT);
    IS(fstat(fd, &same), 0);
    IS(same.st_nlink, 1);
    IS(linkat(AT_FDCWD, in_folder("second"), AT_FDCWD, in_folder("third"), 0), 0);
    IS(rename(in_folder("third"), in_folder("fourth")), 0);
    IS(unlink(in_folder("second")), 0);
    IS(stat(in_folder("fourth"), &status), 0);
    CHECK(status.st_ino == same.st_ino && status.st_size == 6);
    FAILS(linkat(AT_FDCWD, in_folder("fourth"), AT_FDCWD, in_folder("fifth"), 77), EINVAL);
    IS(unlink(in_folder("fourth")), 0);
    IS(pread(other, text, 20, 0), 6);
    IS(close(fd) + close(other), 0);
    puts("links");
}

static void symbolic_links(void) {
    struct stat status;
    char text[64] = "";
    IS(mkdir(in_folder("real"), 0755), 0);
    IS(symlink("real", in_folder("way")), 0);
    FAILS(symlink("real", in_folder("way")), EEXIST);
    IS(readlink(in_folder("way"), text, sizeof text), 4);
    IS(memcmp(text, "real", 4), 0);
    IS(readlink(in_folder("way"), text, 2), 2);
    FAILS(readlink(in_folder("real"), text, sizeof text), EINVAL);
    FAILS(readlink(in_folder("missing"), text, sizeof text), ENOENT);
    IS(lstat(in_folder("way"), &status), 0);
    CHECK(S_ISLNK(status.st_mode) && status.st_size == 4);
    IS(stat(in_folder("way"), &status), 0);
    CHECK(S_ISDIR(status.st_mode));
    int fd = open(in_folder("way/file"), O_WRONLY | O_CREAT, 0600);
    IS(write(fd, "x", 1), 1);
    IS(close(fd), 0);
    IS(stat(in_folder("real/file"), &status), 0);
    IS(status.st_size, 1);
    // A link to nothing is made good by who creates what it leads to.
    IS(symlink(in_folder("real/late"), in_folder("ahead")), 0);
    FAILS(stat(in_folder("ahead"), &status), ENOENT);
    FAILS(open(in_folder("ahead"), O_WRONLY | O_CREAT | O_EXCL, 0600), EEXIST);
    FAILS(open(in_folder("ahead"), O_RDONLY | O_NOFOLLOW), ELOOP);
    IS(close(open(in_folder("ahead"), O_WRONLY | O_CREAT, 0600)), 0);
    IS(access(in_folder("real/late"), F_OK), 0);
    IS(symlink("round", in_folder("round")), 0);
    FAILS(open(in_folder("round"), O_RDONLY), ELOOP);
    IS(unlink(in_folder("round")) + unlink(in_folder("ahead")) + unlink(in_folder("way")), 0);
    IS(unlink(in_folder("real/file")) + unlink(in_folder("real/late")), 0);
    IS(rmdir(in_folder("real")), 0);
    puts("symbolic links");
}

static void working_directory(void) {
    char text[512], before[512];
    struct stat status;
    CHECK(getcwd(before, sizeof before) == before);
    IS(mkdir(in_folder("place"), 0755), 0);
    FAILS(chdir(in_folder("missing")), ENOENT);
    FAILS(chdir(in_folder("given")), ENOTDIR);
    IS(chdir(in_folder("place")), 0);
    CHECK(getcwd(text, sizeof text) == text);
    IS(strcmp(text, in_folder("place")), 0);
    CHECK(getcwd(text, 3) == NULL && errno == ERANGE);
    IS(close(open("here", O_WRONLY | O_CREAT, 0600)), 0);
    IS(access(in_folder("place/here"), F_OK), 0);
    IS(stat("../given", &status), 0);
    IS(chdir(".."), 0);
    IS(access("place/here", F_OK), 0);
    int fd = open(before, O_RDONLY | O_DIRECTORY);
    IS(fchdir(fd), 0);
    FAILS(fchdir(-1), EBADF);
    CHECK(getcwd(text, sizeof text) == text);
    IS(strcmp(text, before), 0);
    IS(close(fd), 0);
    IS(unlink(in_folder("place/here")) + rmdir(in_folder("place")), 0);
    puts("working directory");
}

static void modes(void) {
    struct stat status;
    struct statx more;
    int fd = open(in_folder("mode"), O_RDWR | O_CREAT, 0640);
    IS(write(fd, "12345", 5), 5);
    IS(chmod(in_folder("mode"), 0604), 0);
    IS(fstat(fd, &status), 0);
    IS(status.st_mode, S_IFREG | 0604);
    IS(fchmod(fd, 04711), 0);
    IS(stat(in_folder("mode"), &status), 0);
    IS(status.st_mode, S_IFREG | 04711);
    IS(fchmodat(AT_FDCWD, in_folder("mode"), 0600, 0), 0);
    FAILS(chmod(in_folder("missing"), 0600), ENOENT);
    FAILS(fchmod(-1, 0600), EBADF);
    IS(statx(AT_FDCWD, in_folder("mode"), 0, STATX_BASIC_STATS, &more), 0);
    CHECK((more.stx_mask & STATX_BASIC_STATS) == STATX_BASIC_STATS);
    CHECK(more.stx_mode == (S_IFREG | 0600) && more.stx_size == 5 && more.stx_nlink == 1);
    CHECK(more.stx_uid == getuid() && more.stx_gid == getgid());
    IS(statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &more), 0);
    IS(more.stx_size, 5);
    FAILS(statx(fd, "", 0, STATX_BASIC_STATS, &more), ENOENT);
    FAILS(statx(AT_FDCWD, in_folder("missing"), 0, STATX_BASIC_STATS, &more), ENOENT);
    FAILS(statx(AT_FDCWD, in_folder("mode"), -1, STATX_BASIC_STATS, &more), EINVAL);
    IS(statx(AT_FDCWD, in_folder("given"), 0, STATX_BASIC_STATS, &more), 0);
    CHECK(S_ISREG(more.stx_mode) && more.stx_size == 11);
    IS(truncate(in_folder("mode"), 2), 0);
    IS(fstat(fd, &status), 0);
    IS(status.st_size, 2);
    FAILS(truncate(folder, 0), EISDIR);
    FAILS(truncate(in_folder("missing"), 0), ENOENT);
    FAILS(truncate(in_folder("mode"), -1), EINVAL);
    IS(unlink(in_folder("mode")), 0);
    IS(close(fd), 0);
    puts("modes");
}

static int by_text(const void *a, const void *b) { return strcmp(*(char **)a, *(char **)b); }

// The names in a directory, in order, as one text.
static const char *names_in(DIR *open) {
    static char text[512];
    char *names[16];
    int count = 0;
    for (struct dirent *entry; (entry = readdir(open)) && count < 16;) {
        CHECK(entry->d_type == DT_DIR || entry->d_type == DT_REG);
        names[count++] = strdup(entry->d_name);
    }
    qsort(names, count, sizeof *names, by_text);
    *text = 0;
    for (int i = 0; i < count; i++) {
        strcat(strcat(text, i ? " " : ""), names[i]);
        free(names[i]);
    }
    return text;
}

// What the program does to a file that was there: the test looks afterwards that nothing happened.
static void changing(int controlled) {
    char text[32] = "";
    if (!controlled) return;
    int reading = open(in_folder("given"), O_RDONLY);
    int fd = open(in_folder("given"), O_RDWR);
    IS(write(fd, "taken", 5), 5);
    IS(pread(fd, text, 20, 0), 11);
    IS(memcmp(text, "taken text", 10), 0);
    IS(pread(reading, text, 5, 0), 5);
    IS(memcmp(text, "taken", 5), 0);
    IS(chmod(in_folder("given"), 0600), 0);
    IS(link(in_folder("given"), in_folder("again")), 0);
    IS(unlink(in_folder("again")), 0);
    IS(rename(in_folder("given"), in_folder("moved")), 0);
    FAILS(access(in_folder("given"), F_OK), ENOENT);
    DIR *all = opendir(folder);
    IS(strcmp(names_in(all), ". .. moved"), 0);
    IS(closedir(all), 0);
    IS(unlink(in_folder("moved")), 0);
    IS(close(fd) + close(reading), 0);
}

static void folders(void) {
    struct stat status;
    IS(mkdir(in_folder("inner"), 0755), 0);
    FAILS(mkdir(in_folder("inner"), 0755), EEXIST);
    IS(stat(in_folder("inner"), &status), 0);
    CHECK(S_ISDIR(status.st_mode));
    int fd = open(in_folder("inner/file"), O_WRONLY | O_CREAT, 0600);
    CHECK(fd >= 0);
    IS(close(fd), 0);
    FAILS(unlink(in_folder("inner")), EISDIR);
    FAILS(rmdir(in_folder("inner/file")), ENOTDIR);
    FAILS(rmdir(in_folder("inner")), ENOTEMPTY);
    IS(unlink(in_folder("inner/file")), 0);
    IS(rmdir(in_folder("inner")), 0);
    FAILS(stat(in_folder("inner"), &status), ENOENT);
    puts("folders");
}

static void listing(void) {
    DIR *all = opendir(folder);
    CHECK(all != NULL);
    IS(strcmp(names_in(all), ". .. given"), 0);
    CHECK(readdir(all) == NULL);
    IS(mkdir(in_folder("inner"), 0755), 0);
    rewinddir(all);
    IS(strcmp(names_in(all), ". .. given inner"), 0);
    // Files are found by the directory that they are in.
    int inner = openat(dirfd(all), "inner", O_RDONLY | O_DIRECTORY);
    int made = openat(inner, "made", O_WRONLY | O_CREAT, 0600);
    CHECK(inner >= 0 && made >= 0);
    IS(write(made, "x", 1), 1);
    struct stat status;
    IS(fstatat(inner, "made", &status, 0), 0);
    IS(status.st_size, 1);
    IS(fstat(inner, &status), 0);
    CHECK(S_ISDIR(status.st_mode));
    char byte;
    FAILS(read(inner, &byte, 1), EISDIR);
    FAILS(openat(dirfd(all), "given", O_RDONLY | O_DIRECTORY), ENOTDIR);
    FAILS(openat(made, "given", O_RDONLY), ENOTDIR);
    IS(renameat(inner, "made", inner, "other"), 0);
    IS(faccessat(inner, "made", F_OK, 0), -1);
    DIR *part = fdopendir(inner);
    IS(strcmp(names_in(part), ". .. other"), 0);
    IS(unlinkat(inner, "other", 0), 0);
    rewinddir(part);
    IS(strcmp(names_in(part), ". .."), 0);
    IS(closedir(part) + close(made), 0);
    IS(unlinkat(dirfd(all), "inner", AT_REMOVEDIR), 0);
    rewinddir(all);
    IS(strcmp(names_in(all), ". .. given"), 0);
    IS(closedir(all), 0);
    CHECK(opendir(in_folder("given")) == NULL && errno == ENOTDIR);
    CHECK(opendir(in_folder("missing")) == NULL && errno == ENOENT);
    puts("listing");
}

static void stdio(void) {
    char line[64];
    FILE *file = fopen(in_folder("lines"), "w+");
    CHECK(file != NULL);
    for (int i = 0; i < 2000; i++) fprintf(file, "line %d\n", i);
    IS(fseek(file, 0, SEEK_SET), 0);
    CHECK(fgets(line, sizeof line, file) != NULL);
    IS(strcmp(line, "line 0\n"), 0);
    IS(fseek(file, -10, SEEK_END), 0);
    CHECK(fgets(line, sizeof line, file) != NULL);
    IS(strcmp(line, "line 1999\n"), 0);
    CHECK(fgets(line, sizeof line, file) == NULL && feof(file));
    IS(fclose(file), 0);
    file = fopen(in_folder("lines"), "a");
    IS(fputs("last\n", file) < 0, 0);
    IS(fclose(file), 0);
    file = fopen(in_folder("lines"), "r");
    int count = 0;
    while (fgets(line, sizeof line, file)) count++;
    IS(count, 2001);
    IS(strcmp(line, "last\n"), 0);
    IS(fclose(file), 0);
    CHECK(fopen(in_folder("missing"), "r") == NULL && errno == ENOENT);
    IS(remove(in_folder("lines")), 0);
    puts("stdio");
}

static void *appends(void *name) {
    int fd = open(in_folder("log"), O_WRONLY | O_APPEND);
    for (int i = 0; i < 2; i++) IS(write(fd, name, 4), 4);
    IS(close(fd), 0);
    return NULL;
}

static void together(void) {
    IS(close(open(in_folder("log"), O_WRONLY | O_CREAT, 0600)), 0);
    pthread_t one = start(appends, "one\n"), other = start(appends, "two\n");
    join(one);
    join(other);
    struct stat status;
    IS(stat(in_folder("log"), &status), 0);
    IS(status.st_size, 16);
    IS(unlink(in_folder("log")), 0);
    puts("together");
}

// Locks belong to what is open: copies of a descriptor share them.
static void locks(void) {
    int one = open(in_folder("locked"), O_RDWR | O_CREAT, 0600);
    int other = open(in_folder("locked"), O_RDWR);
    CHECK(one >= 0 && other >= 0);
    int copy = dup(one);
    IS(flock(one, LOCK_EX), 0);
    IS(flock(copy, LOCK_EX | LOCK_NB), 0);
    FAILS(flock(other, LOCK_EX | LOCK_NB), EWOULDBLOCK);
    FAILS(flock(other, LOCK_SH | LOCK_NB), EWOULDBLOCK);
    IS(flock(one, LOCK_SH), 0);
    IS(flock(other, LOCK_SH | LOCK_NB), 0);
    // Who asks for another kind gives up its own.
    FAILS(flock(one, LOCK_EX | LOCK_NB), EWOULDBLOCK);
    IS(flock(other, LOCK_EX | LOCK_NB), 0);
    IS(flock(other, LOCK_UN), 0);
    IS(flock(one, LOCK_EX | LOCK_NB), 0);
    IS(close(one), 0);
    FAILS(flock(other, LOCK_SH | LOCK_NB), EWOULDBLOCK);
    IS(close(copy), 0);
    IS(flock(other, LOCK_SH | LOCK_NB), 0);
    FAILS(flock(other, 77), EINVAL);
    FAILS(flock(-1, LOCK_EX), EBADF);
    // A process never excludes itself.
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    IS(fcntl(other, F_SETLK, &range), 0);
    IS(fcntl(other, F_GETLK, &range), 0);
    IS(range.l_type, F_UNLCK);
    IS(close(other), 0);
    IS(unlink(in_folder("locked")), 0);
}

static void devices(void) {
    char bytes[64], more[64];
    int fd = open("/dev/null", O_RDWR);
    IS(write(fd, "x", 1), 1);
    IS(read(fd, bytes, 1), 0);
    IS(close(fd), 0);
    fd = open("/dev/zero", O_RDONLY);
    memset(bytes, 1, sizeof bytes);
    IS(read(fd, bytes, sizeof bytes), 64);
    IS(bytes[63], 0);
    IS(close(fd), 0);
    fd = open("/dev/zero", O_RDWR);
    char *zeros = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    CHECK(zeros != MAP_FAILED && zeros[4095] == 0);
    IS(munmap(zeros, 4096) + close(fd), 0);
    int ends[2];
    IS(pipe(ends), 0);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, ends[0], 0) == MAP_FAILED && errno == ENODEV);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 200, 0) == MAP_FAILED && errno == EBADF);
    IS(close(ends[0]) + close(ends[1]), 0);
    fd = open("/dev/urandom", O_RDONLY);
    IS(read(fd, bytes, sizeof bytes), 64);
    IS(read(fd, more, sizeof more), 64);
    CHECK(memcmp(bytes, more, 64) != 0);
    IS(close(fd), 0);
    IS(read(0, bytes, 1), 0);
    puts("devices");
}

int main(int argc, char **argv) {
    CHECK(argc > 1 && strlen(argv[1]) < sizeof folder);
    strcpy(folder, argv[1]);
    descriptors();
    writing();
    links();
    symbolic_links();
    working_directory();
    modes();
    folders();
    listing();
    stdio();
    together();
    locks();
    devices();
    changing(argc > 2);
    return 0;
}
