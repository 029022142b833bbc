// Waiting for several descriptors at once: poll, ppoll, select and pselect.
#include "net.h"
#include <sys/select.h>

static void events(void) {
    struct pair pair = connected(AF_INET);
    struct pollfd watched[3] = {
        {.fd = pair.client, .events = POLLIN | POLLOUT},
        {.fd = pair.server, .events = POLLIN},
        {.fd = -1, .events = POLLIN, .revents = 7},
    };
    IS(poll(watched, 3, 0), 1);
    CHECK(watched[0].revents == POLLOUT && watched[1].revents == 0 && watched[2].revents == 0);
    IS(write(pair.client, "x", 1), 1);
    IS(poll(watched + 1, 2, LONG), 1);
    IS(watched[1].revents, POLLIN);
    IS(poll(watched, 3, 0), 2);
    IS(watched[1].revents, POLLIN);
    watched[1].events = POLLIN | POLLRDHUP | POLLRDNORM;
    IS(poll(watched + 1, 1, 0), 1);
    IS(watched[1].revents, POLLIN | POLLRDNORM);
    IS(shutdown(pair.client, SHUT_WR), 0);
    IS(await(pair.server, POLLRDHUP), POLLRDHUP);
    IS(await(pair.server, POLLIN | POLLOUT | POLLRDHUP), POLLIN | POLLOUT | POLLRDHUP);
    IS(shutdown(pair.server, SHUT_WR), 0);
    IS(await(pair.server, 0), POLLHUP);
    CHECK(await(pair.client, POLLIN) & POLLIN);
    IS(close(pair.server), 0);
    watched[1].events = POLLIN;
    IS(poll(watched + 1, 1, LONG), 1);
    IS(watched[1].revents, POLLNVAL);
    IS(close(pair.client), 0);
    // Regular files and devices are always ready.
    int null = open("/dev/null", O_RDWR);
    IS(await(null, POLLIN | POLLOUT), POLLIN | POLLOUT);
    IS(close(null), 0);
}

static void times(void) {
    struct pair pair = connected(AF_UNIX);
    struct pollfd watched = {.fd = pair.client, .events = POLLIN};
    static const struct timespec time = {0, 20000000};
    long long before = now_on(CLOCK_MONOTONIC);
    IS(poll(&watched, 1, 20), 0);
    CHECK(now_on(CLOCK_MONOTONIC) - before >= 20000000LL);
    IS(ppoll(&watched, 1, &time, NULL), 0);
    CHECK(now_on(CLOCK_MONOTONIC) - before >= 40000000LL);
    IS(pselect(0, NULL, NULL, NULL, &time, NULL), 0);
    CHECK(now_on(CLOCK_MONOTONIC) - before >= 60000000LL);
    IS(poll(NULL, 0, 10), 0);
    CHECK(now_on(CLOCK_MONOTONIC) - before >= 70000000LL);
    struct timeval left = {0, 10000};
    IS(select(0, NULL, NULL, NULL, &left), 0);
    CHECK(left.tv_sec == 0 && left.tv_usec == 0);
    CHECK(now_on(CLOCK_MONOTONIC) - before >= 80000000LL);
    close_both(pair);
}

static void sets(void) {
    struct pair pair = connected(AF_INET6);
    int highest = (pair.client > pair.server ? pair.client : pair.server) + 1;
    fd_set reading, writing, failing;
    struct timeval none = {0, 0}, while_ = {20, 0};
    struct timespec none_ = {0, 0};
    FD_ZERO(&reading);
    FD_ZERO(&writing);
    FD_ZERO(&failing);
    FD_SET(pair.client, &reading);
    FD_SET(pair.server, &reading);
    FD_SET(pair.server, &writing);
    FD_SET(pair.client, &failing);
    IS(select(highest, &reading, &writing, &failing, &none), 1);
    CHECK(!FD_ISSET(pair.client, &reading) && !FD_ISSET(pair.server, &reading));
    CHECK(FD_ISSET(pair.server, &writing) && !FD_ISSET(pair.client, &failing));
    IS(write(pair.client, "x", 1), 1);
    FD_SET(pair.client, &reading);
    FD_SET(pair.server, &reading);
    IS(select(highest, &reading, NULL, NULL, &while_), 1);
    CHECK(FD_ISSET(pair.server, &reading) && !FD_ISSET(pair.client, &reading));
    FD_SET(pair.client, &reading);
    IS(pselect(highest, &reading, NULL, NULL, &none_, NULL), 1);
    CHECK(FD_ISSET(pair.server, &reading) && !FD_ISSET(pair.client, &reading));
    FD_ZERO(&reading);
    FD_SET(pair.client, &reading);
    IS(pselect(highest, &reading, NULL, NULL, &none_, NULL), 0);
    CHECK(!FD_ISSET(pair.client, &reading));
    FD_SET(pair.client, &reading);
    close_both(pair);
    FAILS(select(highest, &reading, NULL, NULL, &none), EBADF);
    FAILS(select(-1, NULL, NULL, NULL, &none), EINVAL);
}

static void listeners(void) {
    int one = listening(AF_INET), other = listening(AF_UNIX);
    struct pollfd watched[2] = {{.fd = one, .events = POLLIN}, {.fd = other, .events = POLLIN}};
    IS(poll(watched, 2, 0), 0);
    int client = connecting(other);
    IS(poll(watched, 2, LONG), 1);
    CHECK(watched[0].revents == 0 && watched[1].revents == POLLIN);
    int server = accept(other, NULL, NULL);
    IS(poll(watched, 2, 0), 0);
    IS(close(client) + close(server) + close(one) + close(other), 0);
}

static void *writes(void *argument) {
    IS(write(*(int *)argument, "x", 1), 1);
    return NULL;
}

// Two descriptors, each written to by a thread of its own, until both were read.
static void threads(int with_select) {
    struct pair one = connected(AF_INET), other = connected(AF_UNIX);
    pthread_t writers[2] = {start(writes, &one.client), start(writes, &other.client)};
    int fds[2] = {one.server, other.server};
    for (int missing = 2; missing > 0;) {
        struct pollfd watched[2] = {{fds[0], POLLIN, 0}, {fds[1], POLLIN, 0}};
        fd_set reading;
        FD_ZERO(&reading);
        for (int i = 0; i < 2; i++) if (fds[i] >= 0) FD_SET(fds[i], &reading);
        if (with_select) CHECK(select(FD_SETSIZE, &reading, NULL, NULL, NULL) > 0);
        else CHECK(poll(watched, 2, -1) > 0);
        for (int i = 0; i < 2; i++) {
            char byte;
            if (fds[i] < 0) continue;
            if (with_select ? !FD_ISSET(fds[i], &reading) : !(watched[i].revents & POLLIN)) continue;
            IS(read(fds[i], &byte, 1), 1);
            fds[i] = -1;
            missing -= 1;
        }
    }
    join(writers[0]);
    join(writers[1]);
    close_both(one);
    close_both(other);
}

static volatile int signals;
static void on_signal(int number) { signals += number == SIGUSR1; }

// A signal that is blocked is let in while waiting, and ends it.
static void interruptions(void) {
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t blocked, none;
    struct pair pair = connected(AF_INET);
    struct pollfd watched = {.fd = pair.client, .events = POLLIN};
    struct timespec long_time = {20, 0};
    fd_set reading;
    FD_ZERO(&reading);
    FD_SET(pair.client, &reading);
    sigemptyset(&none);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    IS(sigaction(SIGUSR1, &action, NULL), 0);
    IS(pthread_sigmask(SIG_BLOCK, &blocked, NULL), 0);
    IS(raise(SIGUSR1), 0);
    IS(poll(&watched, 1, 0), 0);
    IS(signals, 0);
    FAILS(ppoll(&watched, 1, &long_time, &none), EINTR);
    IS(signals, 1);
    IS(raise(SIGUSR1), 0);
    IS(signals, 1);
    FAILS(pselect(pair.client + 1, &reading, NULL, NULL, &long_time, &none), EINTR);
    IS(signals, 2);
    close_both(pair);
}

int main(void) {
    events();
    puts("events");
    times();
    puts("times");
    sets();
    puts("sets");
    listeners();
    puts("listeners");
    threads(0);
    threads(1);
    puts("threads");
    interruptions();
    puts("interruptions");
    return 0;
}
