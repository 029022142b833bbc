// Read-write locks: who shares, who waits, who is refused.
#include "check.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both;
static int value, copies[2];

static void *sees_written(void *unused) {
    IS(pthread_rwlock_tryrdlock(&lock), EBUSY);
    IS(pthread_rwlock_trywrlock(&lock), EBUSY);
    struct timespec until = after(CLOCK_REALTIME, 2);
    IS(pthread_rwlock_timedrdlock(&lock, &until), ETIMEDOUT);
    CHECK(now_on(CLOCK_REALTIME) >= moment(until));
    until = after(CLOCK_REALTIME, 2);
    IS(pthread_rwlock_timedwrlock(&lock, &until), ETIMEDOUT);
    until = after(CLOCK_MONOTONIC, 2);
    IS(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &until), ETIMEDOUT);
    until = after(CLOCK_MONOTONIC, 2);
    IS(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &until), ETIMEDOUT);
    CHECK(now_on(CLOCK_MONOTONIC) >= moment(until));
    struct timespec bad = {0, 1000000000};
    IS(pthread_rwlock_timedrdlock(&lock, &bad), EINVAL);
    IS(pthread_rwlock_timedwrlock(&lock, &bad), EINVAL);
    IS(pthread_rwlock_clockwrlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &until), EINVAL);
    return unused;
}

static void *sees_read(void *unused) {
    IS(pthread_rwlock_tryrdlock(&lock), 0);
    IS(pthread_rwlock_rdlock(&lock), 0);
    IS(pthread_rwlock_trywrlock(&lock), EBUSY);
    struct timespec until = after(CLOCK_REALTIME, 2);
    IS(pthread_rwlock_timedwrlock(&lock, &until), ETIMEDOUT);
    IS(pthread_rwlock_unlock(&lock), 0);
    IS(pthread_rwlock_timedrdlock(&lock, &until), 0);
    IS(pthread_rwlock_unlock(&lock), 0);
    IS(pthread_rwlock_unlock(&lock), 0);
    return unused;
}

// Two readers can only meet at the barrier if they share the lock.
static void *reads_with_another(void *unused) {
    IS(pthread_rwlock_rdlock(&lock), 0);
    pthread_barrier_wait(&both);
    IS(pthread_rwlock_unlock(&lock), 0);
    return unused;
}

static void *writes(void *unused) {
    for (int i = 0; i < 2; i++) {
        IS(pthread_rwlock_wrlock(&lock), 0);
        copies[0] = ++value;
        sched_yield();
        copies[1] = value;
        IS(pthread_rwlock_unlock(&lock), 0);
    }
    return unused;
}

static void *reads(void *unused) {
    for (int i = 0; i < 2; i++) {
        IS(pthread_rwlock_rdlock(&lock), 0);
        int seen = copies[0];
        sched_yield();
        CHECK(copies[0] == seen && copies[1] == seen);
        IS(pthread_rwlock_unlock(&lock), 0);
    }
    return unused;
}

static void *waits_to_write(void *unused) {
    IS(pthread_rwlock_wrlock(&lock), 0);
    IS(pthread_rwlock_unlock(&lock), 0);
    return unused;
}

int main(void) {
    IS(pthread_rwlock_wrlock(&lock), 0);
    IS(pthread_rwlock_rdlock(&lock), EDEADLK);
    IS(pthread_rwlock_wrlock(&lock), EDEADLK);
    IS(pthread_rwlock_tryrdlock(&lock), EBUSY);
    IS(pthread_rwlock_trywrlock(&lock), EBUSY);
    struct timespec until = after(CLOCK_REALTIME, 2);
    IS(pthread_rwlock_timedwrlock(&lock, &until), EDEADLK);
    IS(pthread_rwlock_timedrdlock(&lock, &until), EDEADLK);
    join(start(sees_written, NULL));
    IS(pthread_rwlock_unlock(&lock), 0);
    puts("written");

    IS(pthread_rwlock_rdlock(&lock), 0);
    join(start(sees_read, NULL));
    IS(pthread_rwlock_trywrlock(&lock), EBUSY);
    IS(pthread_rwlock_unlock(&lock), 0);
    IS(pthread_rwlock_trywrlock(&lock), 0);
    IS(pthread_rwlock_unlock(&lock), 0);
    puts("read");

    IS(pthread_barrier_init(&both, NULL, 2), 0);
    pthread_t one = start(reads_with_another, NULL), other = start(reads_with_another, NULL);
    join(one);
    join(other);
    puts("shared");

    pthread_t threads[] = {start(writes, NULL), start(reads, NULL), start(writes, NULL)};
    for (int i = 0; i < 3; i++) join(threads[i]);
    IS(value, 4);
    puts("exclusive");

    // A kind that prefers writers still lets everybody through.
    pthread_rwlockattr_t attributes;
    IS(pthread_rwlockattr_init(&attributes), 0);
    IS(pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP), 0);
    IS(pthread_rwlock_destroy(&lock), 0);
    IS(pthread_rwlock_init(&lock, &attributes), 0);
    IS(pthread_rwlock_rdlock(&lock), 0);
    pthread_t writer = start(waits_to_write, NULL);
    // Once the writer waits, readers wait behind it.
    while (pthread_rwlock_tryrdlock(&lock) == 0) {
        IS(pthread_rwlock_unlock(&lock), 0);
        sched_yield();
    }
    pthread_t reader = start(reads, NULL);
    IS(pthread_rwlock_unlock(&lock), 0);
    join(writer);
    join(reader);
    IS(pthread_rwlock_destroy(&lock), 0);
    puts("writers preferred");
    return 0;
}
