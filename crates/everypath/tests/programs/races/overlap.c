// One thread stores eight bytes, another one loads one of them: whichever comes first is seen.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static union {
    uint64_t all;
    uint8_t byte[8];
} shared;
static int seen;

static void *stores(void *unused) {
    __atomic_store_n(&shared.all, ~0ull, __ATOMIC_SEQ_CST);
    return unused;
}

static void *loads(void *unused) {
    seen = __atomic_load_n(&shared.byte[5], __ATOMIC_SEQ_CST);
    return unused;
}

int main(int count, char **arguments) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, stores, 0);
    pthread_create(&threads[1], 0, loads, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(count < 2 || seen != atoi(arguments[1]));
}
