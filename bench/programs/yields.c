/* Two threads that give way to each other nearly all the time. */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

enum { ROUNDS = 1000, YIELDS = 50 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *give_way(void *argument) {
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < YIELDS; i++)
            sched_yield();
        /* Without any effect this would be a livelock. */
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, give_way, NULL);
    give_way(NULL);
    return pthread_join(other, NULL);
}
