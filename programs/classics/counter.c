// Two threads count: each reads the counter and writes back one more, and the other's count may be
// lost in between. With the argument `fixed` they count in one instruction.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { ROUNDS = 2 };

static atomic_int counter;
static int fixed;

static void *count(void *unused) {
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        int seen = atomic_load(&counter);
        while (fixed && !atomic_compare_exchange_strong(&counter, &seen, seen + 1)) {}
        if (!fixed) atomic_store(&counter, seen + 1);
    }
    return NULL;
}

int main(int argc, char **argv) {
    (void)argv;
    fixed = argc > 1;
    pthread_t other;
    pthread_create(&other, NULL, count, NULL);
    count(NULL);
    pthread_join(other, NULL);
    assert(atomic_load(&counter) == 2 * ROUNDS);
    return 0;
}
