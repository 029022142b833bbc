// Threads look whether a slot is free and then claim it: each operation is atomic, both together are not.
// With `fixed` they compare and exchange.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct slot {
    atomic_int owner;
    atomic_int claims;
};

static int fixed;

static int claim(struct slot *slot, int by) {
    if (fixed) {
        int free = 0;
        return atomic_compare_exchange_strong(&slot->owner, &free, by);
    }
    if (atomic_load_explicit(&slot->owner, memory_order_acquire) != 0) return 0;
    atomic_store_explicit(&slot->owner, by, memory_order_release);
    return 1;
}

static void *run(void *argument) {
    struct slot *slot = argument;
    if (claim(slot, 1)) atomic_fetch_add(&slot->claims, 1);
    return NULL;
}

int main(int count, char **arguments) {
    (void)arguments;
    fixed = count > 1;
    struct slot *slot = calloc(1, sizeof *slot);
    pthread_t thread;
    pthread_create(&thread, NULL, run, slot);
    if (claim(slot, 2)) atomic_fetch_add(&slot->claims, 1);
    pthread_join(thread, NULL);
    assert(atomic_load(&slot->claims) == 1);
    return 0;
}
