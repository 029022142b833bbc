// How bytes are handed over: peeking, scattered buffers, copies of descriptors, standard I/O,
// threads that wait for each other.
#include "net.h"

static void flags(void) {
    char text[8] = "";
    struct pair pair = connected(AF_INET);
    FAILS(recv(pair.client, text, 1, MSG_DONTWAIT), EAGAIN);
    FAILS(recv(pair.client, text, 1, MSG_DONTWAIT | MSG_PEEK), EAGAIN);
    IS(send(pair.server, "peek", 4, 0), 4);
    IS(recv(pair.client, text, 2, MSG_PEEK), 2);
    SAME(text, "pe");
    IS(recv(pair.client, text, 8, MSG_PEEK), 4);
    IS(recv(pair.client, text, 8, MSG_DONTWAIT), 4);
    SAME(text, "peek");
    FAILS(recv(pair.client, text, 8, MSG_DONTWAIT), EAGAIN);
    int waiting = -1;
    IS(ioctl(pair.client, FIONREAD, &waiting), 0);
    IS(waiting, 0);
    IS(send(pair.server, "12345", 5, 0), 5);
    CHECK(await(pair.client, POLLIN) & POLLIN);
    IS(ioctl(pair.client, FIONREAD, &waiting), 0);
    IS(waiting, 5);
    IS(close(pair.server), 0);
    // Everything is waited for, unless the end comes before.
    IS(recv(pair.client, text, 8, MSG_WAITALL), 5);
    IS(recv(pair.client, text, 8, MSG_WAITALL), 0);
    IS(close(pair.client), 0);
}

static void *says_it_in_parts(void *argument) {
    int fd = *(int *)argument;
    for (const char *c = "in parts"; *c; c++) IS(write(fd, c, 1), 1);
    return NULL;
}

static void waiting(int family) {
    char text[8];
    struct pair pair = connected(family);
    pthread_t thread = start(says_it_in_parts, &pair.client);
    IS(recv(pair.server, text, 8, MSG_WAITALL), 8);
    SAME(text, "in parts");
    join(thread);
    close_both(pair);
}

static void scattered(int family) {
    char one[3] = "", two[8] = "", control[64];
    struct pair pair = connected(family);
    struct iovec out[3] = {{"ab", 2}, {"", 0}, {"cdef", 4}}, in[2] = {{one, 3}, {two, 8}};
    IS(writev(pair.client, out, 3), 6);
    IS(recv(pair.server, two, 6, MSG_WAITALL | MSG_PEEK), 6);
    IS(readv(pair.server, in, 2), 6);
    SAME(one, "abc");
    SAME(two, "def");
    struct msghdr message = {.msg_iov = out, .msg_iovlen = 3};
    IS(sendmsg(pair.server, &message, MSG_NOSIGNAL), 6);
    memset(one, 0, sizeof one);
    message = (struct msghdr){
        .msg_iov = in, .msg_iovlen = 2, .msg_control = control, .msg_controllen = sizeof control};
    IS(recvmsg(pair.client, &message, 0), 6);
    SAME(one, "abc");
    CHECK(message.msg_controllen == 0 && message.msg_flags == 0);
    FAILS(recvmsg(pair.client, &message, MSG_DONTWAIT), EAGAIN);
    IS(sendto(pair.client, "to", 2, 0, NULL, 0), 2);
    IS(recvfrom(pair.server, two, 2, MSG_WAITALL, NULL, NULL), 2);
    SAME(two, "to");
    close_both(pair);
}

static void copies(int family) {
    char byte;
    struct pair pair = connected(family);
    int copy = dup(pair.client);
    IS(dup2(pair.client, 99), 99);
    IS(fcntl(pair.client, F_DUPFD_CLOEXEC, 150), 150);
    IS(fcntl(150, F_GETFD), FD_CLOEXEC);
    // The mode belongs to the connection, not to the descriptor.
    set_nonblocking(copy);
    FAILS(read(99, &byte, 1), EAGAIN);
    IS(fcntl(pair.client, F_SETFL, O_RDWR), 0);
    IS(close(pair.client), 0);
    IS(write(99, "x", 1), 1);
    IS(read(pair.server, &byte, 1), 1);
    FAILS(recv(pair.server, &byte, 1, MSG_DONTWAIT), EAGAIN);
    IS(close(99) + close(copy), 0);
    FAILS(recv(pair.server, &byte, 1, MSG_DONTWAIT), EAGAIN);
    IS(close(150), 0);
    IS(read(pair.server, &byte, 1), 0);
    // A copy in place of another connection closes that one.
    struct pair other = connected(family);
    IS(dup2(pair.server, other.client), other.client);
    IS(read(other.server, &byte, 1), 0);
    IS(close(pair.server) + close(other.client) + close(other.server), 0);
}

static void standard_io(int family) {
    char line[32];
    struct pair pair = connected(family);
    FILE *client = fdopen(pair.client, "r+"), *server = fdopen(pair.server, "r+");
    CHECK(client != NULL && server != NULL);
    fprintf(client, "GET %d\nmore\n", 17);
    IS(fflush(client), 0);
    CHECK(fgets(line, sizeof line, server) != NULL);
    IS(strcmp(line, "GET 17\n"), 0);
    CHECK(fgets(line, sizeof line, server) != NULL);
    IS(strcmp(line, "more\n"), 0);
    fputs("OK\n", server);
    IS(fclose(server), 0);
    CHECK(fgets(line, sizeof line, client) != NULL);
    IS(strcmp(line, "OK\n"), 0);
    CHECK(fgets(line, sizeof line, client) == NULL && feof(client));
    IS(fclose(client), 0);
    FAILS(close(pair.client), EBADF);
}

#define BULK 400000

static void *writes_much(void *argument) {
    int fd = *(int *)argument;
    char *bytes = malloc(BULK);
    for (int i = 0; i < BULK; i++) bytes[i] = i % 251;
    for (int done = 0; done < BULK;) {
        ssize_t written = write(fd, bytes + done, BULK - done);
        CHECK(written > 0);
        done += written;
    }
    free(bytes);
    IS(shutdown(fd, SHUT_WR), 0);
    return NULL;
}

static void much(int family) {
    struct pair pair = connected(family);
    pthread_t thread = start(writes_much, &pair.client);
    unsigned char *bytes = malloc(BULK + 1);
    int done = 0;
    for (ssize_t got; (got = read(pair.server, bytes + done, BULK + 1 - done)) > 0;) done += got;
    IS(done, BULK);
    for (int i = 0; i < BULK; i++) CHECK(bytes[i] == i % 251);
    free(bytes);
    join(thread);
    close_both(pair);
}

static void *echoes(void *argument) {
    int fd = (int)(long)argument;
    char byte;
    while (read(fd, &byte, 1) == 1) {
        byte += 1;
        IS(write(fd, &byte, 1), 1);
    }
    IS(close(fd), 0);
    return NULL;
}

static void *accepts(void *argument) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        long client = accept(*(int *)argument, NULL, NULL);
        CHECK(client >= 0);
        threads[i] = start(echoes, (void *)client);
    }
    for (int i = 0; i < 3; i++) join(threads[i]);
    return NULL;
}

static void *asks(void *argument) {
    char byte = 'a';
    int fd = connecting(*(int *)argument);
    for (int i = 0; i < 3; i++) {
        IS(write(fd, &byte, 1), 1);
        IS(read(fd, &byte, 1), 1);
    }
    IS(close(fd), 0);
    return (void *)(long)byte;
}

static void a_server_with_threads(int family) {
    int listener = listening(family);
    pthread_t server = start(accepts, &listener), clients[3];
    for (int i = 0; i < 3; i++) clients[i] = start(asks, &listener);
    for (int i = 0; i < 3; i++) IS((long)join(clients[i]), 'd');
    join(server);
    IS(close(listener), 0);
}

static void time_outs(void) {
    char byte;
    struct pair pair = connected(AF_INET);
    set_timeout(pair.client, 30);
    long long before = now_on(CLOCK_MONOTONIC);
    FAILS(read(pair.client, &byte, 1), EAGAIN);
    CHECK(now_on(CLOCK_MONOTONIC) - before >= 29000000LL);
    FAILS(recv(pair.client, &byte, 1, MSG_WAITALL), EAGAIN);
    IS(write(pair.server, "x", 1), 1);
    IS(read(pair.client, &byte, 1), 1);
    close_both(pair);
    int listener = listening(AF_INET);
    set_timeout(listener, 10);
    FAILS(accept(listener, NULL, NULL), EAGAIN);
    IS(close(listener), 0);
}

static void *reads(void *argument) {
    char byte = 0;
    errno = 0;
    long got = read(*(int *)argument, &byte, 1);
    return (void *)(got * 1000 + errno);
}

static void *accepts_once(void *argument) {
    errno = 0;
    long got = accept(*(int *)argument, NULL, NULL);
    return (void *)(got * 1000 + errno);
}

// What happens to a thread that waits while another one ends the connection.
static void ended_by_another_thread(int family) {
    struct pair pair = connected(family);
    pthread_t reader = start(reads, &pair.client);
    IS(shutdown(pair.client, SHUT_RD), 0);
    IS((long)join(reader), 0);
    close_both(pair);
    pair = connected(family);
    reader = start(reads, &pair.client);
    IS(close(pair.server), 0);
    IS((long)join(reader), 0);
    IS(close(pair.client), 0);
    int listener = listening(family);
    pthread_t waiting = start(accepts_once, &listener);
    IS(shutdown(listener, SHUT_RD), 0);
    IS((long)join(waiting), -1000 + EINVAL);
    IS(close(listener), 0);
    // A descriptor that is closed while a thread reads from it: the thread does not notice, or it
    // comes too late.
    pair = connected(family);
    reader = start(reads, &pair.client);
    int copy = dup(pair.client);
    IS(close(pair.client), 0);
    IS(write(pair.server, "x", 1), 1);
    long got = (long)join(reader);
    CHECK(got == 1000 || got == -1000 + EBADF);
    IS(close(copy) + close(pair.server), 0);
}

int main(void) {
    static const int families[] = {AF_INET, AF_INET6, AF_UNIX};
    flags();
    puts("flags");
    for (int i = 0; i < 3; i++) {
        waiting(families[i]);
        scattered(families[i]);
        copies(families[i]);
        standard_io(families[i]);
        printf("messages %d\n", i);
        a_server_with_threads(families[i]);
        ended_by_another_thread(families[i]);
        printf("threads %d\n", i);
    }
    much(AF_INET);
    much(AF_UNIX);
    puts("much");
    time_outs();
    puts("time-outs");
    return 0;
}
