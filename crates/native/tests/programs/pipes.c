// Pipes and pairs of sockets.
#include "net.h"

static void ends(void) {
    char text[8];
    int fds[2];
    IS(pipe(fds), 0);
    IS(fcntl(fds[0], F_GETFL), O_RDONLY);
    IS(fcntl(fds[1], F_GETFL), O_WRONLY);
    IS(fcntl(fds[0], F_GETFD), 0);
    IS(write(fds[1], "hello", 5), 5);
    int waiting = 0;
    IS(ioctl(fds[0], FIONREAD, &waiting), 0);
    IS(waiting, 5);
    IS(read(fds[0], text, 3), 3);
    IS(read(fds[0], text + 3, 5), 2);
    SAME(text, "hello");
    FAILS(write(fds[0], "x", 1), EBADF);
    FAILS(read(fds[1], text, 1), EBADF);
    FAILS(lseek(fds[0], 0, SEEK_CUR), ESPIPE);
    FAILS(recv(fds[0], text, 1, 0), ENOTSOCK);
    struct stat status;
    IS(fstat(fds[0], &status), 0);
    CHECK(S_ISFIFO(status.st_mode));
    // The end comes when the last writer has closed.
    int copy = dup(fds[1]);
    IS(close(fds[1]), 0);
    IS(write(copy, "x", 1), 1);
    IS(close(copy), 0);
    IS(await(fds[0], POLLIN), POLLIN | POLLHUP);
    IS(read(fds[0], text, 8), 1);
    IS(await(fds[0], POLLIN), POLLHUP);
    IS(read(fds[0], text, 8), 0);
    IS(close(fds[0]), 0);
    // Nobody reads any more.
    IS(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    IS(fcntl(fds[0], F_GETFD), FD_CLOEXEC);
    IS(fcntl(fds[1], F_GETFL), O_WRONLY | O_NONBLOCK);
    FAILS(read(fds[0], text, 1), EAGAIN);
    IS(close(fds[0]), 0);
    signal(SIGPIPE, SIG_IGN);
    FAILS(write(fds[1], "x", 1), EPIPE);
    IS(await(fds[1], POLLOUT), POLLOUT | POLLERR);
    signal(SIGPIPE, SIG_DFL);
    IS(close(fds[1]), 0);
    FAILS(pipe2(fds, O_APPEND | O_TRUNC), EINVAL);
}

static void room(void) {
    static char bytes[65536];
    int fds[2], written = 0;
    IS(pipe2(fds, O_NONBLOCK), 0);
    IS(fcntl(fds[1], F_GETPIPE_SZ), 65536);
    for (ssize_t count; (count = write(fds[1], bytes, 4096)) > 0;) written += count;
    IS(errno, EAGAIN);
    IS(written, 65536);
    struct pollfd full = {.fd = fds[1], .events = POLLOUT};
    IS(poll(&full, 1, 0), 0);
    IS(read(fds[0], bytes, 4096), 4096);
    IS(poll(&full, 1, 0), 1);
    // What is not longer than PIPE_BUF is written as a whole or not at all.
    IS(write(fds[1], bytes, 4000), 4000);
    FAILS(write(fds[1], bytes, 200), EAGAIN);
    IS(read(fds[0], bytes, sizeof bytes), 61440 + 4000);
    IS(close(fds[0]) + close(fds[1]), 0);
}

static void *writes(void *argument) {
    int fd = *(int *)argument;
    for (int i = 0; i < 3; i++) IS(write(fd, "abc" + i, 1), 1);
    IS(close(fd), 0);
    return NULL;
}

static void *writes_much(void *argument) {
    int fd = *(int *)argument;
    static char bytes[200000];
    IS(write(fd, bytes, sizeof bytes), sizeof bytes);
    IS(close(fd), 0);
    return NULL;
}

static void threads(void) {
    char byte;
    static char bytes[8192];
    int fds[2];
    IS(pipe(fds), 0);
    pthread_t writer = start(writes, &fds[1]);
    for (int i = 0; i < 3; i++) {
        IS(read(fds[0], &byte, 1), 1);
        IS(byte, "abc"[i]);
    }
    IS(read(fds[0], &byte, 1), 0);
    join(writer);
    IS(close(fds[0]), 0);
    // More than there is room for.
    IS(pipe(fds), 0);
    writer = start(writes_much, &fds[1]);
    long total = 0;
    for (ssize_t count; (count = read(fds[0], bytes, sizeof bytes)) > 0;) total += count;
    IS(total, 200000);
    join(writer);
    IS(close(fds[0]), 0);
    // Standard I/O on a pipe.
    IS(pipe(fds), 0);
    FILE *in = fdopen(fds[0], "r"), *out = fdopen(fds[1], "w");
    fprintf(out, "%d %s\n", 42, "lines");
    IS(fclose(out), 0);
    int number;
    IS(fscanf(in, "%d", &number), 1);
    IS(number, 42);
    IS(fclose(in), 0);
}

static void pairs(void) {
    char text[8];
    int fds[2];
    IS(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    IS(write(fds[0], "one", 3), 3);
    IS(write(fds[0], "two", 3), 3);
    IS(write(fds[1], "back", 4), 4);
    IS(read(fds[1], text, 8), 6);
    SAME(text, "onetwo");
    IS(read(fds[0], text, 8), 4);
    IS(name_of(fds[0]).length, sizeof(sa_family_t));
    IS(peer_of(fds[0]).length, sizeof(sa_family_t));
    IS(shutdown(fds[0], SHUT_WR), 0);
    IS(read(fds[1], text, 1), 0);
    IS(write(fds[1], "x", 1), 1);
    IS(read(fds[0], text, 1), 1);
    IS(close(fds[1]), 0);
    IS(read(fds[0], text, 1), 0);
    FAILS(send(fds[0], "x", 1, MSG_NOSIGNAL), EPIPE);
    IS(close(fds[0]), 0);
    FAILS(socketpair(AF_INET, SOCK_STREAM, 0, fds), EOPNOTSUPP);
    // One that keeps messages apart.
    IS(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds), 0);
    IS(fcntl(fds[1], F_GETFD), FD_CLOEXEC);
    IS(number_option(fds[0], SOL_SOCKET, SO_TYPE), SOCK_DGRAM);
    IS(write(fds[0], "first", 5), 5);
    IS(write(fds[0], "second", 6), 6);
    IS(read(fds[1], text, 2), 2);
    SAME(text, "fi");
    IS(read(fds[1], text, 8), 6);
    SAME(text, "second");
    FAILS(recv(fds[1], text, 1, MSG_DONTWAIT), EAGAIN);
    IS(close(fds[0]), 0);
    FAILS(recv(fds[1], text, 1, MSG_DONTWAIT), EAGAIN);
    FAILS(write(fds[1], "x", 1), ECONNREFUSED);
    IS(close(fds[1]), 0);
}

int main(void) {
    ends();
    puts("ends");
    room();
    puts("room");
    threads();
    puts("threads");
    pairs();
    puts("pairs");
    return 0;
}
