// What the conformance programs share: a failed check says so and ends the program.
#ifndef CHECK_H
#define CHECK_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            printf("BAD %s:%d: %s (errno %d)\n", __FILE__, __LINE__,            \
                   #condition, errno);                                          \
            fflush(stdout);                                                     \
            _exit(1);                                                           \
        }                                                                       \
    } while (0)

#define IS(call, expected)                                                      \
    do {                                                                        \
        long got_ = (long)(call);                                               \
        if (got_ != (long)(expected)) {                                         \
            printf("BAD %s:%d: %s is %ld, not %ld\n", __FILE__, __LINE__,       \
                   #call, got_, (long)(expected));                              \
            fflush(stdout);                                                     \
            _exit(1);                                                           \
        }                                                                       \
    } while (0)

#define FAILS(call, error)                                                      \
    do {                                                                        \
        errno = 0;                                                              \
        IS(call, -1);                                                           \
        IS(errno, error);                                                       \
    } while (0)

static inline long long now_on(clockid_t clock) {
    struct timespec t;
    CHECK(clock_gettime(clock, &t) == 0);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// The moment `milliseconds` from now; a negative number is in the past.
static inline struct timespec after(clockid_t clock, long milliseconds) {
    long long at = now_on(clock) + milliseconds * 1000000LL;
    struct timespec t = {at / 1000000000LL, at % 1000000000LL};
    return t;
}

static inline long long moment(struct timespec t) {
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static inline pthread_t start(void *(*function)(void *), void *argument) {
    pthread_t thread;
    IS(pthread_create(&thread, NULL, function, argument), 0);
    return thread;
}

static inline void *join(pthread_t thread) {
    void *result;
    IS(pthread_join(thread, &result), 0);
    return result;
}
#endif
