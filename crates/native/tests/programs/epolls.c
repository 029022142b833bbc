// epoll: level-triggered, edge-triggered, one-shot, and what becomes of descriptors that are closed.
#include "net.h"
#include <sys/epoll.h>

static int watch(int epoll, int operation, int fd, unsigned events, int data) {
    struct epoll_event event = {.events = events, .data.u32 = data};
    return epoll_ctl(epoll, operation, fd, &event);
}

// What is ready within a time: the number of events, and the one event if it is one.
static struct epoll_event seen;
static int ready(int epoll, int milliseconds) {
    struct epoll_event events[8];
    int count = epoll_wait(epoll, events, 8, milliseconds);
    if (count > 0) seen = events[0];
    return count;
}

static void level(void) {
    char byte;
    struct pair pair = connected(AF_INET);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    IS(fcntl(epoll, F_GETFD), FD_CLOEXEC);
    IS(watch(epoll, EPOLL_CTL_ADD, pair.server, EPOLLIN, 1), 0);
    IS(ready(epoll, 0), 0);
    IS(write(pair.client, "ab", 2), 2);
    for (int i = 0; i < 2; i++) {
        IS(ready(epoll, LONG), 1);
        CHECK(seen.events == EPOLLIN && seen.data.u32 == 1);
        IS(read(pair.server, &byte, 1), 1);
    }
    IS(ready(epoll, 0), 0);
    IS(watch(epoll, EPOLL_CTL_MOD, pair.server, EPOLLIN | EPOLLOUT, 2), 0);
    IS(ready(epoll, 0), 1);
    CHECK(seen.events == EPOLLOUT && seen.data.u32 == 2);
    IS(watch(epoll, EPOLL_CTL_MOD, pair.server, EPOLLRDHUP, 3), 0);
    IS(ready(epoll, 0), 0);
    IS(shutdown(pair.client, SHUT_WR), 0);
    IS(ready(epoll, LONG), 1);
    IS(seen.events, EPOLLRDHUP);
    IS(watch(epoll, EPOLL_CTL_MOD, pair.server, 0, 4), 0);
    IS(ready(epoll, 0), 0);
    IS(shutdown(pair.server, SHUT_WR), 0);
    IS(ready(epoll, LONG), 1);
    CHECK(seen.events == EPOLLHUP && seen.data.u32 == 4);
    IS(watch(epoll, EPOLL_CTL_DEL, pair.server, 0, 0), 0);
    IS(ready(epoll, 0), 0);
    close_both(pair);
    IS(close(epoll), 0);
}

static void edges(void) {
    char byte;
    struct pair pair = connected(AF_UNIX);
    int epoll = epoll_create1(0);
    IS(watch(epoll, EPOLL_CTL_ADD, pair.server, EPOLLIN | EPOLLET, 1), 0);
    IS(ready(epoll, 0), 0);
    IS(write(pair.client, "a", 1), 1);
    IS(ready(epoll, LONG), 1);
    // Told once, although it was not read.
    IS(ready(epoll, 0), 0);
    IS(write(pair.client, "b", 1), 1);
    IS(ready(epoll, LONG), 1);
    IS(ready(epoll, 0), 0);
    IS(read(pair.server, &byte, 1), 1);
    IS(ready(epoll, 0), 0);
    // Whoever asks again is told again.
    IS(watch(epoll, EPOLL_CTL_MOD, pair.server, EPOLLIN | EPOLLET, 1), 0);
    IS(ready(epoll, 0), 1);
    IS(ready(epoll, 0), 0);
    IS(watch(epoll, EPOLL_CTL_ADD, pair.client, EPOLLOUT | EPOLLET, 2), 0);
    IS(ready(epoll, 0), 1);
    CHECK(seen.events == EPOLLOUT && seen.data.u32 == 2);
    IS(ready(epoll, 0), 0);
    IS(close(pair.client), 0);
    IS(ready(epoll, LONG), 1);
    CHECK(seen.data.u32 == 1 && (seen.events & EPOLLHUP) && (seen.events & EPOLLIN));
    IS(ready(epoll, 0), 0);
    IS(close(pair.server) + close(epoll), 0);
}

static void one_shot(void) {
    struct pair pair = connected(AF_INET);
    int epoll = epoll_create(1);
    IS(watch(epoll, EPOLL_CTL_ADD, pair.server, EPOLLIN | EPOLLONESHOT, 1), 0);
    IS(write(pair.client, "a", 1), 1);
    IS(ready(epoll, LONG), 1);
    IS(ready(epoll, 0), 0);
    IS(write(pair.client, "b", 1), 1);
    IS(ready(epoll, 0), 0);
    FAILS(watch(epoll, EPOLL_CTL_ADD, pair.server, EPOLLIN, 1), EEXIST);
    IS(watch(epoll, EPOLL_CTL_MOD, pair.server, EPOLLIN | EPOLLONESHOT, 7), 0);
    IS(ready(epoll, LONG), 1);
    IS(seen.data.u32, 7);
    IS(ready(epoll, 0), 0);
    close_both(pair);
    IS(close(epoll), 0);
}

static void closing(void) {
    char byte;
    struct pair pair = connected(AF_INET);
    int epoll = epoll_create1(0);
    // Closed descriptors are not watched any more, unless there is a copy.
    IS(watch(epoll, EPOLL_CTL_ADD, pair.server, EPOLLIN, 1), 0);
    IS(write(pair.client, "a", 1), 1);
    int copy = dup(pair.server);
    IS(ready(epoll, LONG), 1);
    IS(close(pair.server), 0);
    IS(ready(epoll, LONG), 1);
    FAILS(watch(epoll, EPOLL_CTL_DEL, pair.server, 0, 0), EBADF);
    FAILS(watch(epoll, EPOLL_CTL_MOD, copy, EPOLLIN, 0), ENOENT);
    IS(read(copy, &byte, 1), 1);
    IS(ready(epoll, 0), 0);
    IS(write(pair.client, "b", 1), 1);
    IS(ready(epoll, LONG), 1);
    IS(close(copy), 0);
    IS(ready(epoll, 0), 0);
    IS(close(pair.client) + close(epoll), 0);
    // A copy can be watched beside the original.
    pair = connected(AF_UNIX);
    epoll = epoll_create1(0);
    copy = dup(pair.server);
    IS(watch(epoll, EPOLL_CTL_ADD, pair.server, EPOLLIN, 1), 0);
    IS(watch(epoll, EPOLL_CTL_ADD, copy, EPOLLIN, 2), 0);
    IS(write(pair.client, "c", 1), 1);
    IS(ready(epoll, LONG), 2);
    IS(close(copy), 0);
    close_both(pair);
    IS(close(epoll), 0);
}

static void many(void) {
    struct pair pairs[3];
    struct epoll_event events[3];
    int epoll = epoll_create1(0), told = 0;
    for (int i = 0; i < 3; i++) {
        pairs[i] = connected(AF_UNIX);
        IS(watch(epoll, EPOLL_CTL_ADD, pairs[i].server, EPOLLIN, i), 0);
        IS(write(pairs[i].client, "x", 1), 1);
    }
    // One at a time, each gets its turn.
    for (int i = 0; i < 3; i++) {
        IS(epoll_wait(epoll, events, 1, LONG), 1);
        told |= 1 << events[0].data.u32;
    }
    IS(told, 7);
    IS(epoll_wait(epoll, events, 3, 0), 3);
    IS(epoll_pwait(epoll, events, 2, 0, NULL), 2);
    for (int i = 0; i < 3; i++) close_both(pairs[i]);
    IS(close(epoll), 0);
}

static void nested(void) {
    struct pair pair = connected(AF_INET);
    int inner = epoll_create1(0), outer = epoll_create1(0);
    IS(watch(inner, EPOLL_CTL_ADD, pair.server, EPOLLIN, 1), 0);
    IS(watch(outer, EPOLL_CTL_ADD, inner, EPOLLIN, 2), 0);
    IS(ready(outer, 0), 0);
    struct pollfd watched = {.fd = inner, .events = POLLIN};
    IS(poll(&watched, 1, 0), 0);
    IS(write(pair.client, "x", 1), 1);
    IS(ready(outer, LONG), 1);
    CHECK(seen.events == EPOLLIN && seen.data.u32 == 2);
    IS(await(inner, POLLIN), POLLIN);
    IS(ready(inner, 0), 1);
    IS(seen.data.u32, 1);
    close_both(pair);
    IS(ready(outer, 0), 0);
    IS(close(inner) + close(outer), 0);
}

static void mistakes(void) {
    struct pair pair = connected(AF_INET);
    struct epoll_event event;
    int epoll = epoll_create1(0), null = open("/dev/null", O_RDONLY);
    FAILS(epoll_create(0), EINVAL);
    FAILS(epoll_create1(77), EINVAL);
    FAILS(watch(epoll, EPOLL_CTL_DEL, pair.client, 0, 0), ENOENT);
    FAILS(watch(epoll, EPOLL_CTL_MOD, pair.client, 0, 0), ENOENT);
    FAILS(watch(epoll, EPOLL_CTL_ADD, epoll, EPOLLIN, 0), EINVAL);
    FAILS(watch(epoll, EPOLL_CTL_ADD, 200, EPOLLIN, 0), EBADF);
    FAILS(watch(epoll, EPOLL_CTL_ADD, null, EPOLLIN, 0), EPERM);
    FAILS(watch(pair.client, EPOLL_CTL_ADD, pair.server, EPOLLIN, 0), EINVAL);
    FAILS(watch(200, EPOLL_CTL_ADD, pair.server, EPOLLIN, 0), EBADF);
    FAILS(watch(epoll, 99, pair.client, 0, 0), EINVAL);
    FAILS(epoll_wait(epoll, &event, 0, 0), EINVAL);
    FAILS(epoll_wait(pair.client, &event, 1, 0), EINVAL);
    FAILS(epoll_wait(200, &event, 1, 0), EBADF);
    close_both(pair);
    IS(close(epoll) + close(null), 0);
}

static void times(void) {
    int epoll = epoll_create1(0);
    long long before = now_on(CLOCK_MONOTONIC);
    IS(ready(epoll, 20), 0);
    CHECK(now_on(CLOCK_MONOTONIC) - before >= 19000000LL);
    IS(close(epoll), 0);
}

static void *writes(void *argument) {
    IS(write(*(int *)argument, "x", 1), 1);
    return NULL;
}

// Threads write; one thread waits for all of them, without a time-out.
static void threads(unsigned mode) {
    struct pair pairs[2] = {connected(AF_INET), connected(AF_UNIX)};
    pthread_t writers[2];
    int epoll = epoll_create1(0), told = 0;
    for (int i = 0; i < 2; i++) {
        IS(watch(epoll, EPOLL_CTL_ADD, pairs[i].server, EPOLLIN | mode, i), 0);
        writers[i] = start(writes, &pairs[i].client);
    }
    while (told != 3) {
        struct epoll_event events[2];
        int count = epoll_wait(epoll, events, 2, -1);
        CHECK(count > 0);
        for (int i = 0; i < count; i++) {
            char byte;
            IS(read(pairs[events[i].data.u32].server, &byte, 1), 1);
            told |= 1 << events[i].data.u32;
        }
    }
    for (int i = 0; i < 2; i++) {
        join(writers[i]);
        close_both(pairs[i]);
    }
    IS(close(epoll), 0);
}

// Something is watched that another thread waits for already.
static void *waits(void *argument) {
    struct epoll_event event;
    IS(epoll_wait(*(int *)argument, &event, 1, -1), 1);
    return (void *)(long)event.data.u32;
}

static void added_later(void) {
    struct pair pair = connected(AF_INET);
    int epoll = epoll_create1(0);
    pthread_t waiting = start(waits, &epoll);
    IS(watch(epoll, EPOLL_CTL_ADD, pair.client, EPOLLOUT, 9), 0);
    IS((long)join(waiting), 9);
    close_both(pair);
    IS(close(epoll), 0);
}

int main(void) {
    level();
    puts("level");
    edges();
    puts("edges");
    one_shot();
    puts("one shot");
    closing();
    puts("closing");
    many();
    puts("many");
    nested();
    puts("nested");
    mistakes();
    puts("mistakes");
    times();
    puts("times");
    threads(0);
    threads(EPOLLET);
    added_later();
    puts("threads");
    return 0;
}
