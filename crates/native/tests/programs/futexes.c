// Futexes by system call, as run-time libraries use them.
#include "check.h"
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>

static unsigned word, other_word;
static int arrived, woken;

static long futex(unsigned *at, int operation, unsigned value, void *timeout, unsigned *second,
                  unsigned third) {
    return syscall(SYS_futex, at, operation | FUTEX_PRIVATE_FLAG, value, timeout, second, third);
}

static void *waits(void *mask) {
    __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
    long result = mask ? futex(&word, FUTEX_WAIT_BITSET, 0, NULL, NULL, (unsigned)(long)mask)
                       : futex(&word, FUTEX_WAIT, 0, NULL, NULL, 0);
    IS(result, 0);
    __atomic_fetch_add(&woken, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

// Wakes `count` waiters in all, however late they come.
static void wake_exactly(unsigned *at, int count) {
    while (count > 0) {
        count -= (int)futex(at, FUTEX_WAKE, count, NULL, NULL, 0);
        sched_yield();
    }
    IS(count, 0);
}

static void errors(void) {
    FAILS(futex(&word, FUTEX_WAIT, 1, NULL, NULL, 0), EAGAIN);
    struct timespec nap = {0, 2000000}, bad = {0, 1000000000};
    long long before = now_on(CLOCK_MONOTONIC);
    FAILS(futex(&word, FUTEX_WAIT, 0, &nap, NULL, 0), ETIMEDOUT);
    CHECK(now_on(CLOCK_MONOTONIC) - before >= 2000000);
    struct timespec until = after(CLOCK_MONOTONIC, 2);
    FAILS(futex(&word, FUTEX_WAIT_BITSET, 0, &until, NULL, 1), ETIMEDOUT);
    CHECK(now_on(CLOCK_MONOTONIC) >= moment(until));
    until = after(CLOCK_REALTIME, 2);
    FAILS(futex(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &until, NULL, 1), ETIMEDOUT);
    CHECK(now_on(CLOCK_REALTIME) >= moment(until));
    FAILS(futex(&word, FUTEX_WAIT_BITSET, 0, NULL, NULL, 0), EINVAL);
    FAILS(futex(&word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 0), EINVAL);
    FAILS(futex(&word, FUTEX_WAIT, 0, &bad, NULL, 0), EINVAL);
    FAILS(futex((unsigned *)((char *)&word + 1), FUTEX_WAKE, 1, NULL, NULL, 0), EINVAL);
    IS(futex(&word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0), 0);
    FAILS(futex(&word, FUTEX_CMP_REQUEUE, 1, (void *)1, &other_word, 5), EAGAIN);
    puts("errors");
}

static void wake_some(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = start(waits, NULL);
    wake_exactly(&word, 2);
    wake_exactly(&word, 1);
    for (int i = 0; i < 3; i++) join(threads[i]);
    IS(woken, 3);
    IS(futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0), 0);
    puts("wake");
}

static void by_mask(void) {
    woken = 0;
    pthread_t low = start(waits, (void *)1), high = start(waits, (void *)2);
    while (futex(&word, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, 2) == 0) sched_yield();
    join(high);
    IS(futex(&word, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, 2), 0);
    IS(woken, 1);
    while (futex(&word, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, 3) == 0) sched_yield();
    join(low);
    puts("by mask");
}

static void requeue(void) {
    woken = 0;
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = start(waits, NULL);
    // Moves all three to the other word, whenever they come, and wakes them there.
    for (int moved = 0; moved < 3; sched_yield())
        moved += (int)futex(&word, FUTEX_CMP_REQUEUE, 0, (void *)INT_MAX, &other_word, 0);
    IS(woken, 0);
    IS(futex(&word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0), 0);
    IS(futex(&other_word, FUTEX_WAKE, 2, NULL, NULL, 0), 2);
    IS(futex(&other_word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0), 1);
    for (int i = 0; i < 3; i++) join(threads[i]);
    IS(woken, 3);
    puts("requeue");
}

static void *starts_late(void *unused) {
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0);
    return unused;
}

static void handshake(void) {
    pthread_t thread = start(starts_late, NULL);
    while (__atomic_load_n(&word, __ATOMIC_SEQ_CST) == 0) {
        long result = futex(&word, FUTEX_WAIT, 0, NULL, NULL, 0);
        CHECK(result == 0 || errno == EAGAIN);
    }
    join(thread);
    puts("handshake");
}

int main(void) {
    errors();
    wake_some();
    by_mask();
    requeue();
    handshake();
    return 0;
}
