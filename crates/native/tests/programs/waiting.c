// Condition variables, barriers, semaphores and spin locks.
#include "check.h"
#include <semaphore.h>
#include <limits.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int waiting, woken, ready;

static void *waits(void *unused) {
    IS(pthread_mutex_lock(&mutex), 0);
    waiting++;
    while (!ready) IS(pthread_cond_wait(&cond, &mutex), 0);
    ready--;
    woken++;
    IS(pthread_mutex_unlock(&mutex), 0);
    return unused;
}

static void await_waiters(int count) {
    for (;;) {
        IS(pthread_mutex_lock(&mutex), 0);
        int arrived = waiting;
        IS(pthread_mutex_unlock(&mutex), 0);
        if (arrived == count) return;
        sched_yield();
    }
}

static void signal_and_broadcast(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = start(waits, NULL);
    await_waiters(3);
    // One wake for one token: whoever gets it, exactly one is woken.
    IS(pthread_mutex_lock(&mutex), 0);
    ready = 1;
    IS(pthread_cond_signal(&cond), 0);
    IS(pthread_mutex_unlock(&mutex), 0);
    for (int done = 0; !done; sched_yield()) {
        IS(pthread_mutex_lock(&mutex), 0);
        done = woken == 1;
        IS(pthread_mutex_unlock(&mutex), 0);
    }
    IS(pthread_mutex_lock(&mutex), 0);
    IS(woken, 1);
    ready = 2;
    IS(pthread_cond_broadcast(&cond), 0);
    IS(pthread_mutex_unlock(&mutex), 0);
    for (int i = 0; i < 3; i++) join(threads[i]);
    IS(woken, 3);
    IS(pthread_cond_signal(&cond), 0);
    IS(pthread_cond_broadcast(&cond), 0);
    puts("signal and broadcast");
}

static void time_outs(void) {
    IS(pthread_mutex_lock(&mutex), 0);
    struct timespec until = after(CLOCK_REALTIME, 2);
    IS(pthread_cond_timedwait(&cond, &mutex, &until), ETIMEDOUT);
    CHECK(now_on(CLOCK_REALTIME) >= moment(until));
    until = after(CLOCK_REALTIME, -5000);
    IS(pthread_cond_timedwait(&cond, &mutex, &until), ETIMEDOUT);
    until = after(CLOCK_MONOTONIC, 2);
    IS(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &until), ETIMEDOUT);
    CHECK(now_on(CLOCK_MONOTONIC) >= moment(until));
    IS(pthread_cond_clockwait(&cond, &mutex, CLOCK_PROCESS_CPUTIME_ID, &until), EINVAL);
    struct timespec bad = {0, -1};
    IS(pthread_cond_timedwait(&cond, &mutex, &bad), EINVAL);
    // The mutex is held again: nobody else can take it.
    IS(pthread_mutex_trylock(&mutex), EBUSY);
    IS(pthread_mutex_unlock(&mutex), 0);
    pthread_condattr_t attributes;
    pthread_cond_t monotonic;
    IS(pthread_condattr_init(&attributes), 0);
    IS(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC), 0);
    IS(pthread_cond_init(&monotonic, &attributes), 0);
    IS(pthread_mutex_lock(&mutex), 0);
    until = after(CLOCK_MONOTONIC, 2);
    IS(pthread_cond_timedwait(&monotonic, &mutex, &until), ETIMEDOUT);
    CHECK(now_on(CLOCK_MONOTONIC) >= moment(until));
    IS(pthread_mutex_unlock(&mutex), 0);
    IS(pthread_cond_destroy(&monotonic), 0);
    puts("time-outs");
}

// A wait gives a recursive mutex... once is all that is promised; an error-checking one is owned.
static void owned_mutex(void) {
    pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    struct timespec until = after(CLOCK_REALTIME, 1);
    IS(pthread_mutex_lock(&checking), 0);
    IS(pthread_cond_timedwait(&cond, &checking, &until), ETIMEDOUT);
    IS(pthread_mutex_lock(&checking), EDEADLK);
    IS(pthread_mutex_unlock(&checking), 0);
    IS(pthread_cond_timedwait(&cond, &checking, &until), EPERM);
    puts("owned mutex");
}

static pthread_barrier_t barrier;
static int rounds[2];

static void *meets(void *serials) {
    for (int round = 0; round < 2; round++) {
        __atomic_fetch_add(&rounds[round], 1, __ATOMIC_SEQ_CST);
        int result = pthread_barrier_wait(&barrier);
        CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
        if (result) __atomic_fetch_add((int *)serials, 1, __ATOMIC_SEQ_CST);
        IS(rounds[round], 3);
    }
    return NULL;
}

static void barriers(void) {
    int serials = 0;
    IS(pthread_barrier_init(&barrier, NULL, 0), EINVAL);
    IS(pthread_barrier_init(&barrier, NULL, 3), 0);
    pthread_t one = start(meets, &serials), other = start(meets, &serials);
    meets(&serials);
    join(one);
    join(other);
    IS(serials, 2);
    IS(pthread_barrier_destroy(&barrier), 0);
    puts("barriers");
}

static sem_t semaphore;

static void *posts(void *count) {
    for (long i = 0; i < (long)count; i++) IS(sem_post(&semaphore), 0);
    return NULL;
}

static void semaphores(void) {
    int value;
    FAILS(sem_init(&semaphore, 0, (unsigned)INT_MAX + 1), EINVAL);
    IS(sem_init(&semaphore, 0, 1), 0);
    IS(sem_wait(&semaphore), 0);
    FAILS(sem_trywait(&semaphore), EAGAIN);
    struct timespec until = after(CLOCK_REALTIME, 2);
    FAILS(sem_timedwait(&semaphore, &until), ETIMEDOUT);
    CHECK(now_on(CLOCK_REALTIME) >= moment(until));
    until = after(CLOCK_MONOTONIC, 2);
    FAILS(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until), ETIMEDOUT);
    FAILS(sem_clockwait(&semaphore, CLOCK_PROCESS_CPUTIME_ID, &until), EINVAL);
    struct timespec bad = {0, 1000000000};
    FAILS(sem_timedwait(&semaphore, &bad), EINVAL);
    pthread_t one = start(posts, (void *)2), other = start(posts, (void *)1);
    for (int i = 0; i < 2; i++) IS(sem_wait(&semaphore), 0);
    join(one);
    join(other);
    IS(sem_getvalue(&semaphore, &value), 0);
    IS(value, 1);
    IS(sem_timedwait(&semaphore, &until), 0);
    IS(sem_destroy(&semaphore), 0);
    IS(sem_init(&semaphore, 0, INT_MAX), 0);
    FAILS(sem_post(&semaphore), EOVERFLOW);
    IS(sem_trywait(&semaphore), 0);
    IS(sem_post(&semaphore), 0);
    puts("semaphores");
}

static pthread_spinlock_t spin;
static int spun;

static void *spins(void *unused) {
    for (int i = 0; i < 3; i++) {
        IS(pthread_spin_lock(&spin), 0);
        int seen = spun;
        sched_yield();
        spun = seen + 1;
        IS(pthread_spin_unlock(&spin), 0);
    }
    return unused;
}

static void *spin_is_taken(void *unused) {
    IS(pthread_spin_trylock(&spin), EBUSY);
    return unused;
}

static void spin_locks(void) {
    IS(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
    IS(pthread_spin_lock(&spin), 0);
    join(start(spin_is_taken, NULL));
    IS(pthread_spin_unlock(&spin), 0);
    IS(pthread_spin_trylock(&spin), 0);
    IS(pthread_spin_unlock(&spin), 0);
    pthread_t one = start(spins, NULL), other = start(spins, NULL);
    join(one);
    join(other);
    IS(spun, 6);
    IS(pthread_spin_destroy(&spin), 0);
    puts("spin locks");
}

int main(void) {
    signal_and_broadcast();
    time_outs();
    owned_mutex();
    barriers();
    semaphores();
    spin_locks();
    return 0;
}
