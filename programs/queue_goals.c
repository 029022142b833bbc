/* A queue of two places between a producer and a consumer, which says what its executions shall
   include: everypath check -- ./queue lists what none of them does. */
#include "everypath.h"
#include <pthread.h>

enum { PLACES = 2, ITEMS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int waiting;

static void *produce(void *unused) {
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        while (waiting == PLACES) {
            everypath_reachable("the producer waits for a place");
            pthread_cond_wait(&changed, &lock);
        }
        waiting++;
        everypath_sometimes(waiting == PLACES, "the queue is full");
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t producer;
    pthread_create(&producer, NULL, produce, NULL);
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        while (waiting == 0) {
            everypath_reachable("the consumer waits for an item");
            pthread_cond_wait(&changed, &lock);
        }
        waiting--;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    pthread_join(producer, NULL);
    return 0;
}
