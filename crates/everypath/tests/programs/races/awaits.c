// A thread spins until another one has set a flag that only a pointer leads to.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct shared {
    atomic_int flag;
    int data;
};

static void *sets(void *argument) {
    struct shared *shared = argument;
    atomic_store(&shared->flag, 1);
    shared->data = 1;
    return 0;
}

int main(void) {
    struct shared *shared = calloc(1, sizeof *shared);
    pthread_t thread;
    pthread_create(&thread, 0, sets, shared);
    while (!atomic_load(&shared->flag)) {
    }
    assert(shared->data);
    pthread_join(thread, 0);
}
