/* Two threads, each of which locks and unlocks a mutex of its own, one after the other. */
#include <pthread.h>
#include <stddef.h>

enum { ROUNDS = 20000 };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void lock_and_unlock(void) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void *other(void *argument) {
    /* When it is kept waiting here, the same points are passed without a switch. */
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    lock_and_unlock();
    return argument;
}

int main(void) {
    pthread_t thread;
#ifdef ALTERNATE
    pthread_create(&thread, NULL, other, NULL);
    lock_and_unlock();
#else
    pthread_mutex_lock(&gate);
    pthread_create(&thread, NULL, other, NULL);
    lock_and_unlock();
    pthread_mutex_unlock(&gate);
#endif
    return pthread_join(thread, NULL);
}
