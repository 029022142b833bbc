// A work-stealing queue: its owner takes from one end, a thief from the other. For the last item
// they compete. The thief takes what it saw without making sure that it is still there; with the
// argument `fixed` it does.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { ITEMS = 2, NOTHING = -1 };

static atomic_int oldest;
static atomic_int newest = ITEMS;
static atomic_int taken[ITEMS];
static bool fixed;

// The items are their own numbers.
static int take(void) {
    int last = atomic_load(&newest) - 1;
    atomic_store(&newest, last);
    int first = atomic_load(&oldest);
    if (first < last) return last;
    int item = NOTHING;
    if (first == last && atomic_compare_exchange_strong(&oldest, &first, first + 1)) item = last;
    atomic_store(&newest, last + 1);
    return item;
}

static int steal(void) {
    int first = atomic_load(&oldest);
    if (first >= atomic_load(&newest)) return NOTHING;
    if (!fixed) {
        atomic_store(&oldest, first + 1);
        return first;
    }
    return atomic_compare_exchange_strong(&oldest, &first, first + 1) ? first : NOTHING;
}

static void work_on(int item) {
    if (item == NOTHING) return;
    assert(atomic_exchange(&taken[item], 1) == 0 && "an item is worked on twice");
}

static void *thief(void *unused) {
    (void)unused;
    work_on(steal());
    return NULL;
}

int main(int argc, char **argv) {
    (void)argv;
    fixed = argc > 1;
    pthread_t other;
    pthread_create(&other, NULL, thief, NULL);
    for (int i = 0; i < ITEMS; i++) work_on(take());
    pthread_join(other, NULL);
    return 0;
}
