// One instruction adds to what all threads share, and to what each has for itself.
#include <pthread.h>
#include <stdatomic.h>

static long shared;

static __attribute__((noinline)) void add(long *sum, long amount) {
    __atomic_store_n(sum, __atomic_load_n(sum, __ATOMIC_RELAXED) + amount, __ATOMIC_RELAXED);
}

static void *work(void *unused) {
    long own = 0;
    for (int i = 0; i < 50; i++) add(&own, i);
    add(&shared, own);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return shared != 1225 && shared != 2450;
}
