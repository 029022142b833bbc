// A lock-free stack. A thread that takes the top off may find the same node on top again although
// what is below it has changed (the ABA problem). With the argument `fixed` the top is counted.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NODES = 2, NOTHING = 255 };

// The number of the node on top in the lowest byte, how often it was changed in the others.
static _Atomic uint64_t top;
static atomic_uchar below[NODES];
static atomic_int owned[NODES];
static bool fixed;

static uint64_t replaced(uint64_t by, uint64_t seen) {
    return fixed ? ((seen | 255) + 1) | by : by;
}

static unsigned char pop(void) {
    uint64_t seen = atomic_load(&top);
    unsigned char node, next;
    do {
        node = (unsigned char)seen;
        if (node == NOTHING) return NOTHING;
        next = atomic_load_explicit(&below[node], memory_order_relaxed);
    } while (!atomic_compare_exchange_strong(&top, &seen, replaced(next, seen)));
    assert(atomic_exchange(&owned[node], 1) == 0 && "a node has two owners");
    return node;
}

static void push(unsigned char node) {
    uint64_t seen = atomic_load(&top);
    atomic_store(&owned[node], 0);
    do {
        atomic_store_explicit(&below[node], (unsigned char)seen, memory_order_relaxed);
    } while (!atomic_compare_exchange_strong(&top, &seen, replaced(node, seen)));
}

static void *shuffle(void *unused) {
    (void)unused;
    unsigned char first = pop();
    unsigned char second = pop();
    if (first != NOTHING) push(first);
    (void)second;
    return NULL;
}

int main(int argc, char **argv) {
    (void)argv;
    fixed = argc > 1;
    for (unsigned char node = 0; node < NODES; node++) below[node] = node + 1;
    below[NODES - 1] = NOTHING;
    pthread_t other;
    pthread_create(&other, NULL, shuffle, NULL);
    pop();
    pop();
    pthread_join(other, NULL);
    return 0;
}
