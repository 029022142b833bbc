// Three threads spin until an atomic word of a heap block is set, then each counts three times under a
// mutex: without memory accesses as steps, who spins spins for ever.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct shared {
    _Atomic int go;
    int count;
    pthread_mutex_t mutex;
};

static void *work(void *argument) {
    struct shared *shared = argument;
    while (!atomic_load(&shared->go))
        ;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&shared->mutex);
        shared->count++;
        pthread_mutex_unlock(&shared->mutex);
    }
    return NULL;
}

int main(void) {
    struct shared *shared = calloc(1, sizeof *shared);
    pthread_mutex_init(&shared->mutex, NULL);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, shared);
    atomic_store(&shared->go, 1);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return shared->count != 9;
}
