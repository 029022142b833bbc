// A load through a pointer races with two atomic additions: it is no step that the search knows
// of, but a random schedule runs it between them.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct shared {
    atomic_int data;
};

static void *adder(void *argument) {
    struct shared *shared = argument;
    int before = atomic_fetch_add(&shared->data, 1);
    return before + atomic_fetch_add(&shared->data, 1) == 1 ? NULL : argument;
}

static void *reader(void *argument) {
    struct shared *shared = argument;
    assert(atomic_load(&shared->data) != 1);
    return NULL;
}

int main(void) {
    struct shared *shared = calloc(1, sizeof *shared);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, adder, shared);
    pthread_create(&threads[1], NULL, reader, shared);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    free(shared);
    return 0;
}
