// Mutexes that inherit priorities: what kernels and libcs do for their time-outs differs, what they
// promise does not.
#include "check.h"

static pthread_mutex_t mutex;
static int counter;

static void *sees_held(void *unused) {
    IS(pthread_mutex_trylock(&mutex), EBUSY);
    struct timespec until = after(CLOCK_REALTIME, 2);
    IS(pthread_mutex_timedlock(&mutex, &until), ETIMEDOUT);
    return unused;
}

static void *counts(void *unused) {
    IS(pthread_mutex_lock(&mutex), 0);
    int seen = counter;
    sched_yield();
    counter = seen + 1;
    IS(pthread_mutex_unlock(&mutex), 0);
    return unused;
}

static void *dies_holding(void *unused) {
    IS(pthread_mutex_lock(&mutex), 0);
    return unused;
}

int main(void) {
    pthread_mutexattr_t attributes;
    for (int robust = 0; robust < 2; robust++) {
        IS(pthread_mutexattr_init(&attributes), 0);
        IS(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT), 0);
        if (robust) IS(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST), 0);
        IS(pthread_mutex_init(&mutex, &attributes), 0);
        IS(pthread_mutex_lock(&mutex), 0);
        join(start(sees_held, NULL));
        IS(pthread_mutex_unlock(&mutex), 0);
        counter = 0;
        pthread_t one = start(counts, NULL), other = start(counts, NULL);
        join(one);
        join(other);
        IS(counter, 2);
    }
    join(start(dies_holding, NULL));
    IS(pthread_mutex_lock(&mutex), EOWNERDEAD);
    IS(pthread_mutex_consistent(&mutex), 0);
    IS(pthread_mutex_unlock(&mutex), 0);
    puts("inherited");
    return 0;
}
