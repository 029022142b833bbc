// The threads of C11.
#include "check.h"
#include <stdatomic.h>
#include <threads.h>

static mtx_t mutex;
static cnd_t condition;
static tss_t key;
static once_flag flag = ONCE_FLAG_INIT;
static int counter, ready, initialised, destroyed;
static thread_local int own = 3;
static atomic_int atomic_counter;

static int counts(void *unused) {
    for (int i = 0; i < 2; i++) {
        IS(mtx_lock(&mutex), thrd_success);
        int seen = counter;
        thrd_yield();
        counter = seen + 1;
        IS(mtx_unlock(&mutex), thrd_success);
        atomic_fetch_add(&atomic_counter, 1);
    }
    (void)unused;
    return own + 4;
}

static int sees_held(void *unused) {
    IS(mtx_trylock(&mutex), thrd_busy);
    struct timespec until = after(CLOCK_REALTIME, 2);
    IS(mtx_timedlock(&mutex, &until), thrd_timedout);
    (void)unused;
    thrd_exit(5);
}

static int waits(void *unused) {
    IS(mtx_lock(&mutex), thrd_success);
    while (!ready) IS(cnd_wait(&condition, &mutex), thrd_success);
    IS(mtx_unlock(&mutex), thrd_success);
    (void)unused;
    return 0;
}

static void destroys(void *value) { destroyed += *(int *)value; }

static int has_a_value(void *value) {
    CHECK(tss_get(key) == NULL);
    IS(tss_set(key, value), thrd_success);
    CHECK(tss_get(key) == value);
    return 0;
}

static void initialises(void) {
    thrd_yield();
    initialised++;
}

static int once(void *unused) {
    call_once(&flag, initialises);
    IS(initialised, 1);
    (void)unused;
    return 0;
}

static void both(thrd_start_t function, void *argument, int expected) {
    thrd_t one, other;
    int result;
    IS(thrd_create(&one, function, argument), thrd_success);
    IS(thrd_create(&other, function, argument), thrd_success);
    IS(thrd_join(one, &result), thrd_success);
    IS(result, expected);
    IS(thrd_join(other, NULL), thrd_success);
}

int main(void) {
    IS(mtx_init(&mutex, mtx_timed), thrd_success);
    IS(cnd_init(&condition), thrd_success);
    both(counts, NULL, 7);
    IS(counter, 4);
    IS(atomic_counter, 4);
    IS(mtx_lock(&mutex), thrd_success);
    both(sees_held, NULL, 5);
    struct timespec until = after(CLOCK_REALTIME, 2);
    IS(cnd_timedwait(&condition, &mutex, &until), thrd_timedout);
    IS(mtx_unlock(&mutex), thrd_success);
    puts("mutexes");

    thrd_t waiter;
    IS(thrd_create(&waiter, waits, NULL), thrd_success);
    IS(mtx_lock(&mutex), thrd_success);
    ready = 1;
    IS(cnd_signal(&condition), thrd_success);
    IS(mtx_unlock(&mutex), thrd_success);
    IS(thrd_join(waiter, NULL), thrd_success);
    IS(cnd_broadcast(&condition), thrd_success);
    cnd_destroy(&condition);
    mtx_destroy(&mutex);
    puts("conditions");

    IS(mtx_init(&mutex, mtx_recursive | mtx_timed), thrd_success);
    IS(mtx_lock(&mutex), thrd_success);
    IS(mtx_lock(&mutex), thrd_success);
    both(sees_held, NULL, 5);
    IS(mtx_unlock(&mutex), thrd_success);
    IS(mtx_unlock(&mutex), thrd_success);
    puts("recursive");

    int value = 4;
    IS(tss_create(&key, destroys), thrd_success);
    both(has_a_value, &value, 0);
    IS(destroyed, 8);
    tss_delete(key);
    both(once, NULL, 0);
    puts("keys and once");

    struct timespec nap = {0, 1000000}, bad = {0, -1};
    long long before = now_on(CLOCK_MONOTONIC);
    IS(thrd_sleep(&nap, NULL), 0);
    CHECK(now_on(CLOCK_MONOTONIC) - before >= 1000000);
    CHECK(thrd_sleep(&bad, NULL) < 0);
    CHECK(thrd_equal(thrd_current(), thrd_current()));
    struct timespec utc;
    IS(timespec_get(&utc, TIME_UTC), TIME_UTC);
    IS(timespec_get(&utc, 77), 0);
    puts("time");
    return 0;
}
