// Descriptors that are counters and timers: eventfd and timerfd.
#include "net.h"
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

static uint64_t taken(int fd) {
    uint64_t value = 77;
    IS(read(fd, &value, sizeof value), 8);
    return value;
}

static void add(int fd, uint64_t value) { IS(write(fd, &value, sizeof value), 8); }

static void counters(void) {
    uint64_t value;
    int fd = eventfd(3, EFD_NONBLOCK | EFD_CLOEXEC);
    IS(fcntl(fd, F_GETFD), FD_CLOEXEC);
    IS(fcntl(fd, F_GETFL), O_RDWR | O_NONBLOCK);
    IS(await(fd, POLLIN | POLLOUT), POLLIN | POLLOUT);
    IS(taken(fd), 3);
    IS(await(fd, POLLIN | POLLOUT), POLLOUT);
    FAILS(read(fd, &value, 8), EAGAIN);
    FAILS(read(fd, &value, 4), EINVAL);
    add(fd, 4);
    add(fd, 5);
    IS(taken(fd), 9);
    add(fd, UINT64_MAX - 1);
    IS(await(fd, POLLIN | POLLOUT), POLLIN);
    value = 1;
    FAILS(write(fd, &value, 8), EAGAIN);
    value = UINT64_MAX;
    FAILS(write(fd, &value, 8), EINVAL);
    value = 0;
    IS(write(fd, &value, 8), 8);
    IS(taken(fd) == UINT64_MAX - 1, 1);
    IS(close(fd), 0);
    fd = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
    IS(taken(fd), 1);
    IS(taken(fd), 1);
    FAILS(read(fd, &value, 8), EAGAIN);
    eventfd_t read;
    IS(eventfd_write(fd, 6), 0);
    IS(eventfd_read(fd, &read), 0);
    IS(read, 1);
    IS(close(fd), 0);
    FAILS(eventfd(0, 77), EINVAL);
}

static void *adds(void *argument) {
    add(*(int *)argument, 1);
    return NULL;
}

static void *takes(void *argument) {
    return (void *)(long)taken(*(int *)argument);
}

static void waking(void) {
    int fd = eventfd(0, 0);
    pthread_t taker = start(takes, &fd);
    add(fd, 5);
    IS((long)join(taker), 5);
    // A semaphore with two units for two threads.
    IS(close(fd), 0);
    fd = eventfd(0, EFD_SEMAPHORE);
    pthread_t one = start(takes, &fd), other = start(takes, &fd);
    add(fd, 2);
    IS((long)join(one) + (long)join(other), 2);
    IS(close(fd), 0);
    // A writer that waits until there is room.
    fd = eventfd(0, 0);
    add(fd, UINT64_MAX - 1);
    pthread_t adder = start(adds, &fd);
    IS(taken(fd) == UINT64_MAX - 1, 1);
    join(adder);
    IS(taken(fd), 1);
    // Edge-triggered, as event loops use it to wake each other.
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    IS(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), 0);
    for (int i = 0; i < 3; i++) {
        adder = start(adds, &fd);
        IS(epoll_wait(epoll, &event, 1, -1), 1);
        join(adder);
        IS(epoll_wait(epoll, &event, 1, 0), 0);
    }
    IS(taken(fd), 3);
    IS(close(fd) + close(epoll), 0);
}

static void timers(void) {
    uint64_t value;
    struct itimerspec once = {.it_value = {0, 20000000}}, off = {0}, got;
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    IS(fcntl(fd, F_GETFD), FD_CLOEXEC);
    FAILS(read(fd, &value, 8), EAGAIN);
    IS(timerfd_gettime(fd, &got), 0);
    CHECK(got.it_value.tv_sec == 0 && got.it_value.tv_nsec == 0);
    long long before = now_on(CLOCK_MONOTONIC);
    IS(timerfd_settime(fd, 0, &once, NULL), 0);
    IS(await(fd, POLLIN), POLLIN);
    CHECK(now_on(CLOCK_MONOTONIC) - before >= 20000000LL);
    IS(taken(fd), 1);
    FAILS(read(fd, &value, 8), EAGAIN);
    // Stopped before it fires.
    once.it_value.tv_sec = 1000;
    IS(timerfd_settime(fd, 0, &once, NULL), 0);
    IS(timerfd_settime(fd, 0, &off, &got), 0);
    CHECK(got.it_value.tv_sec >= 990 && got.it_interval.tv_sec == 0);
    FAILS(read(fd, &value, 8), EAGAIN);
    IS(close(fd), 0);
    // Again and again.
    fd = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec periodic = {.it_value = {0, 5000000}, .it_interval = {0, 5000000}};
    IS(timerfd_settime(fd, 0, &periodic, NULL), 0);
    before = now_on(CLOCK_MONOTONIC);
    for (value = 0; value < 3;) value += taken(fd);
    CHECK(now_on(CLOCK_MONOTONIC) - before >= 9000000LL);
    IS(timerfd_gettime(fd, &got), 0);
    IS(got.it_interval.tv_nsec, 5000000);
    IS(close(fd), 0);
    // At a moment, also one that has passed.
    fd = timerfd_create(CLOCK_REALTIME, 0);
    struct itimerspec absolute = {.it_value = after(CLOCK_REALTIME, 10)};
    IS(timerfd_settime(fd, TFD_TIMER_ABSTIME, &absolute, NULL), 0);
    IS(taken(fd), 1);
    absolute.it_value = after(CLOCK_REALTIME, -10);
    IS(timerfd_settime(fd, TFD_TIMER_ABSTIME, &absolute, NULL), 0);
    IS(taken(fd), 1);
    FAILS(timerfd_settime(99, 0, &once, NULL), EBADF);
    FAILS(timerfd_settime(0, 0, &once, NULL), EINVAL);
    once.it_value.tv_nsec = 1000000000;
    FAILS(timerfd_settime(fd, 0, &once, NULL), EINVAL);
    FAILS(timerfd_create(77, 0), EINVAL);
    IS(close(fd), 0);
}

static void *sets(void *argument) {
    struct itimerspec soon = {.it_value = {0, 1000000}};
    IS(timerfd_settime(*(int *)argument, 0, &soon, NULL), 0);
    return NULL;
}

static void in_threads(void) {
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    pthread_t taker = start(takes, &fd), setter = start(sets, &fd);
    IS((long)join(taker), 1);
    join(setter);
    IS(close(fd), 0);
}

int main(void) {
    counters();
    puts("counters");
    waking();
    puts("waking");
    timers();
    puts("timers");
    in_threads();
    puts("threads");
    return 0;
}
