// Mutexes of every kind, one thread looking at what another holds.
#include "check.h"

static pthread_mutex_t mutex;

static void make(int kind, int robust, int protocol) {
    pthread_mutexattr_t attributes;
    IS(pthread_mutexattr_init(&attributes), 0);
    IS(pthread_mutexattr_settype(&attributes, kind), 0);
    if (robust) IS(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST), 0);
    IS(pthread_mutexattr_setprotocol(&attributes, protocol), 0);
    IS(pthread_mutex_init(&mutex, &attributes), 0);
    IS(pthread_mutexattr_destroy(&attributes), 0);
}

// What another thread sees of a mutex that is held.
static void *sees_held(void *unused) {
    IS(pthread_mutex_trylock(&mutex), EBUSY);
    struct timespec until = after(CLOCK_REALTIME, 2);
    IS(pthread_mutex_timedlock(&mutex, &until), ETIMEDOUT);
    CHECK(now_on(CLOCK_REALTIME) >= moment(until));
    until = after(CLOCK_MONOTONIC, 2);
    IS(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until), ETIMEDOUT);
    CHECK(now_on(CLOCK_MONOTONIC) >= moment(until));
    until = after(CLOCK_REALTIME, -1000);
    IS(pthread_mutex_timedlock(&mutex, &until), ETIMEDOUT);
    struct timespec bad = {0, 1000000000};
    IS(pthread_mutex_timedlock(&mutex, &bad), EINVAL);
    bad.tv_nsec = -1;
    IS(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &bad), EINVAL);
    IS(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &until), EINVAL);
    return unused;
}

static void *sees_free(void *unused) {
    IS(pthread_mutex_trylock(&mutex), 0);
    IS(pthread_mutex_unlock(&mutex), 0);
    // A time-out that has passed does not matter when there is nothing to wait for.
    struct timespec until = after(CLOCK_REALTIME, -1000);
    IS(pthread_mutex_timedlock(&mutex, &until), 0);
    IS(pthread_mutex_unlock(&mutex), 0);
    IS(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until), 0);
    IS(pthread_mutex_unlock(&mutex), 0);
    return unused;
}

static void *not_the_owner(void *unused) {
    IS(pthread_mutex_unlock(&mutex), EPERM);
    return unused;
}

static int counter;

static void *counts(void *unused) {
    for (int i = 0; i < 3; i++) {
        IS(pthread_mutex_lock(&mutex), 0);
        int seen = counter;
        sched_yield();
        counter = seen + 1;
        IS(pthread_mutex_unlock(&mutex), 0);
    }
    return unused;
}

static void held_and_free(void) {
    IS(pthread_mutex_lock(&mutex), 0);
    join(start(sees_held, NULL));
    IS(pthread_mutex_unlock(&mutex), 0);
    join(start(sees_free, NULL));
    counter = 0;
    pthread_t one = start(counts, NULL), other = start(counts, NULL);
    join(one);
    join(other);
    IS(counter, 6);
}

static void kind(const char *name, int type, int robust, int protocol) {
    make(type, robust, protocol);
    held_and_free();
    IS(pthread_mutex_lock(&mutex), 0);
    if (type == PTHREAD_MUTEX_RECURSIVE) {
        IS(pthread_mutex_trylock(&mutex), 0);
        IS(pthread_mutex_lock(&mutex), 0);
        IS(pthread_mutex_unlock(&mutex), 0);
        IS(pthread_mutex_unlock(&mutex), 0);
        join(start(sees_held, NULL));
    } else {
        // Where libc looks at the owner anyway, it says more than that the mutex is busy.
        int says_more = robust && type == PTHREAD_MUTEX_ERRORCHECK;
        IS(pthread_mutex_trylock(&mutex), says_more ? EDEADLK : EBUSY);
    }
    if (type == PTHREAD_MUTEX_ERRORCHECK) IS(pthread_mutex_lock(&mutex), EDEADLK);
    if (type == PTHREAD_MUTEX_ERRORCHECK || type == PTHREAD_MUTEX_RECURSIVE || robust)
        join(start(not_the_owner, NULL));
    IS(pthread_mutex_unlock(&mutex), 0);
    if (type == PTHREAD_MUTEX_ERRORCHECK || type == PTHREAD_MUTEX_RECURSIVE)
        IS(pthread_mutex_unlock(&mutex), EPERM);
    IS(pthread_mutex_destroy(&mutex), 0);
    puts(name);
}

static void initialisers(void) {
    static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
    static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
    pthread_mutex_t *all[] = {&normal, &recursive, &checking, &adaptive};
    for (int i = 0; i < 4; i++) {
        IS(pthread_mutex_lock(all[i]), 0);
        IS(pthread_mutex_trylock(all[i]), i == 1 ? 0 : EBUSY);
        if (i == 1) IS(pthread_mutex_unlock(all[i]), 0);
        IS(pthread_mutex_destroy(all[i]), EBUSY);
        IS(pthread_mutex_unlock(all[i]), 0);
        IS(pthread_mutex_destroy(all[i]), 0);
    }
    puts("initialisers");
}

static void *dies_holding(void *unused) {
    IS(pthread_mutex_lock(&mutex), 0);
    return unused;
}

static void *waits_for_the_dead(void *unused) {
    int result = pthread_mutex_lock(&mutex);
    if (result == EOWNERDEAD) {
        IS(pthread_mutex_consistent(&mutex), 0);
    } else {
        IS(result, 0);
    }
    IS(pthread_mutex_unlock(&mutex), 0);
    return (void *)(long)(result == EOWNERDEAD);
}

static void *waits_for_the_lost(void *unused) {
    IS(pthread_mutex_lock(&mutex), ENOTRECOVERABLE);
    return unused;
}

static void robust(int protocol) {
    make(PTHREAD_MUTEX_NORMAL, 1, protocol);
    IS(pthread_mutex_consistent(&mutex), EINVAL);
    join(start(dies_holding, NULL));
    IS(pthread_mutex_trylock(&mutex), EOWNERDEAD);
    IS(pthread_mutex_consistent(&mutex), 0);
    IS(pthread_mutex_consistent(&mutex), EINVAL);
    IS(pthread_mutex_unlock(&mutex), 0);
    IS(pthread_mutex_lock(&mutex), 0);
    IS(pthread_mutex_unlock(&mutex), 0);
    // Whoever waits when the owner ends, or comes later: one of them is told.
    pthread_t owner = start(dies_holding, NULL);
    join(owner);
    pthread_t one = start(waits_for_the_dead, NULL), other = start(waits_for_the_dead, NULL);
    IS((long)join(one) + (long)join(other), 1);
    // Given back without being made consistent: of no use any more, to waiters too.
    join(start(dies_holding, NULL));
    struct timespec until = after(CLOCK_REALTIME, 1000);
    IS(pthread_mutex_timedlock(&mutex, &until), EOWNERDEAD);
    pthread_t late = start(waits_for_the_lost, NULL);
    IS(pthread_mutex_unlock(&mutex), 0);
    join(late);
    IS(pthread_mutex_lock(&mutex), ENOTRECOVERABLE);
    IS(pthread_mutex_destroy(&mutex), 0);
    puts("robust");
}

// An owner that dies with several robust mutexes, given back in another order than taken.
static pthread_mutex_t three[3];

static void *dies_holding_two_of_three(void *unused) {
    for (int i = 0; i < 3; i++) IS(pthread_mutex_lock(&three[i]), 0);
    IS(pthread_mutex_unlock(&three[1]), 0);
    return unused;
}

static void several_robust(void) {
    for (int i = 0; i < 3; i++) {
        make(PTHREAD_MUTEX_ERRORCHECK, 1, PTHREAD_PRIO_NONE);
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        IS(pthread_mutex_init(&three[i], &attributes), 0);
    }
    join(start(dies_holding_two_of_three, NULL));
    IS(pthread_mutex_lock(&three[0]), EOWNERDEAD);
    IS(pthread_mutex_lock(&three[1]), 0);
    IS(pthread_mutex_lock(&three[2]), EOWNERDEAD);
    puts("several robust");
}

int main(void) {
    kind("normal", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_NONE);
    kind("recursive", PTHREAD_MUTEX_RECURSIVE, 0, PTHREAD_PRIO_NONE);
    kind("errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0, PTHREAD_PRIO_NONE);
    kind("adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, 0, PTHREAD_PRIO_NONE);
    kind("robust errorcheck", PTHREAD_MUTEX_ERRORCHECK, 1, PTHREAD_PRIO_NONE);
    kind("robust recursive", PTHREAD_MUTEX_RECURSIVE, 1, PTHREAD_PRIO_NONE);
    initialisers();
    robust(PTHREAD_PRIO_NONE);
    several_robust();
    return 0;
}
