// Copies within the kernel, files that are mapped to be shared, files in memory.
#include "check.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>

static int make(const char *name, const char *text) {
    int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    CHECK(file >= 0);
    IS(write(file, text, strlen(text)), strlen(text));
    IS(lseek(file, 0, SEEK_SET), 0);
    return file;
}

static void sends(void) {
    char text[32] = {0};
    int ends[2], file = make("from", "0123456789");
    IS(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    off_t at = 3;
    IS(sendfile(ends[0], file, &at, 4), 4);
    IS(at, 7);
    IS(lseek(file, 0, SEEK_CUR), 0);
    IS(read(ends[1], text, sizeof text), 4);
    CHECK(!strcmp(text, "3456"));
    IS(sendfile(ends[0], file, NULL, 100), 10);
    IS(lseek(file, 0, SEEK_CUR), 10);
    IS(sendfile(ends[0], file, NULL, 100), 0);
    IS(read(ends[1], text, sizeof text), 10);
    at = -1;
    FAILS(sendfile(ends[0], file, &at, 1), EINVAL);
    FAILS(sendfile(ends[0], ends[1], NULL, 1), EINVAL);
    FAILS(sendfile(-1, file, NULL, 1), EBADF);
    FAILS(sendfile(ends[0], -1, NULL, 1), EBADF);
    FAILS(sendfile(ends[0], file, (off_t *)1, 1), EFAULT);
    int append = open("from", O_WRONLY | O_APPEND);
    FAILS(sendfile(append, file, NULL, 1), EINVAL);
    FAILS(sendfile(ends[0], append, NULL, 1), EBADF);
    // A file of the machine.
    int host = open("given", O_RDONLY), out = make("to", "");
    IS(sendfile(out, host, NULL, 5), 5);
    IS(pread(out, text, sizeof text, 0), 5);
    CHECK(!memcmp(text, "given", 5));
    IS(close(out) + close(host) + close(append) + close(file) + close(ends[0]) + close(ends[1]), 0);
}

static void ranges(void) {
    char text[32] = {0};
    int from = make("from", "0123456789"), to = make("to", "abcdefghij");
    off64_t in = 2, out = 5;
    IS(copy_file_range(from, &in, to, &out, 3, 0), 3);
    IS(in, 5);
    IS(out, 8);
    IS(lseek(from, 0, SEEK_CUR) + lseek(to, 0, SEEK_CUR), 0);
    IS(copy_file_range(from, NULL, to, NULL, 2, 0), 2);
    IS(lseek(from, 0, SEEK_CUR), 2);
    IS(lseek(to, 0, SEEK_CUR), 2);
    IS(pread(to, text, sizeof text, 0), 10);
    CHECK(!strcmp(text, "01cde234ij"));
    FAILS(copy_file_range(from, NULL, to, NULL, 2, 1), EINVAL);
    FAILS(copy_file_range(from, NULL, -1, NULL, 2, 0), EBADF);
    int ends[2];
    IS(pipe(ends), 0);
    FAILS(copy_file_range(from, NULL, ends[1], NULL, 2, 0), EINVAL);
    in = 4;
    IS(splice(from, &in, ends[1], NULL, 3, 0), 3);
    IS(in, 7);
    IS(read(ends[0], text, sizeof text), 3);
    CHECK(!memcmp(text, "456", 3));
    FAILS(splice(from, NULL, to, NULL, 3, 0), EINVAL);
    FAILS(splice(from, NULL, ends[1], &in, 3, 0), ESPIPE);
    IS(fcntl(ends[1], F_SETPIPE_SZ, 5000), 8192);
    IS(fcntl(ends[0], F_GETPIPE_SZ), 8192);
    IS(fcntl(ends[0], F_SETFL, O_NONBLOCK) + fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    static char many[9000];
    IS(write(ends[1], many, sizeof many), 8192);
    FAILS(fcntl(ends[0], F_SETPIPE_SZ, 4096), EBUSY);
    FAILS(write(ends[1], many, 1), EAGAIN);
    IS(fcntl(ends[0], F_SETPIPE_SZ, 131072), 131072);
    IS(write(ends[1], many, sizeof many), sizeof many);
    FAILS(fcntl(from, F_GETPIPE_SZ), EBADF);
    IS(fallocate(to, 0, 0, 20), 0);
    struct stat status;
    IS(fstat(to, &status), 0);
    IS(status.st_size, 20);
    IS(fallocate(to, FALLOC_FL_KEEP_SIZE, 0, 40), 0);
    IS(fstat(to, &status), 0);
    IS(status.st_size, 20);
    FAILS(fallocate(to, 0, -1, 20), EINVAL);
    FAILS(fallocate(ends[1], 0, 0, 20), ESPIPE);
    IS(sync_file_range(to, 0, 20, 0), 0);
    IS(close(from) + close(to) + close(ends[0]) + close(ends[1]), 0);
}

static void shares(int file) {
    IS(ftruncate(file, 4096), 0);
    char *one = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    char *two = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
    CHECK(one != MAP_FAILED && two != MAP_FAILED);
    char text[8] = {0};
    IS(pwrite(file, "hello", 5, 0), 5);
    CHECK(!memcmp(one, "hello", 5) && !memcmp(two, "hello", 5));
    memcpy(one, "HELLO", 5);
    IS(pread(file, text, 5, 0), 5);
    CHECK(!strcmp(text, "HELLO") && !memcmp(two, "HELLO", 5));
    // A private one sees no later changes of its own pages, nor does anybody see its.
    char *own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    own[0] = 'x';
    CHECK(one[0] == 'H');
    IS(msync(one, 4096, MS_SYNC), 0);
    IS(munmap(one, 4096), 0);
    CHECK(!memcmp(two, "HELLO", 5));
    IS(ftruncate(file, 8192), 0);
    char *second = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 4096);
    CHECK(second != MAP_FAILED && second[0] == 0);
    second[0] = 'y';
    IS(pread(file, text, 1, 4096), 1);
    CHECK(text[0] == 'y');
    IS(munmap(second, 4096) + munmap(two, 4096) + munmap(own, 4096), 0);
}

static void shared(void) {
    int file = make("shared", "");
    shares(file);
    int only_read = open("shared", O_RDONLY);
    CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, only_read, 0) == MAP_FAILED);
    IS(errno, EACCES);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 1) == MAP_FAILED);
    IS(errno, EINVAL);
    IS(close(only_read) + close(file), 0);
    file = memfd_create("name", MFD_CLOEXEC);
    CHECK(file >= 0);
    IS(fcntl(file, F_GETFD), FD_CLOEXEC);
    shares(file);
    IS(close(file), 0);
    file = shm_open("/everypath-copies", O_RDWR | O_CREAT | O_EXCL, 0600);
    CHECK(file >= 0);
    shares(file);
    IS(shm_unlink("/everypath-copies"), 0);
    IS(close(file), 0);
}

int main(int argc, char **argv) {
    CHECK(argc > 1);
    IS(chdir(argv[1]), 0);
    sends();
    ranges();
    shared();
    IS(unlink("from") + unlink("to") + unlink("shared"), 0);
    puts("copied");
    return 0;
}
