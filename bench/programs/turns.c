/* Four threads take turns and count under a lock, in three rounds, and print. */
#include <pthread.h>
#include <stdio.h>

enum { WORKERS = 4, ROUNDS = 3 };

static pthread_mutex_t turn_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t total_lock = PTHREAD_RWLOCK_INITIALIZER;
static int turn, total;

static void take_turn(int number) {
    pthread_mutex_lock(&turn_mutex);
    while (turn % WORKERS != number)
        pthread_cond_wait(&turn_changed, &turn_mutex);
    turn++;
    pthread_cond_broadcast(&turn_changed);
    pthread_mutex_unlock(&turn_mutex);
}

static void *work(void *argument) {
    int number = (int)(long)argument;
    for (int round = 0; round < ROUNDS; round++) {
        take_turn(number);
        pthread_rwlock_wrlock(&total_lock);
        total++;
        pthread_rwlock_unlock(&total_lock);
    }
    pthread_rwlock_rdlock(&total_lock);
    printf("worker %d of %d\n", number, total);
    pthread_rwlock_unlock(&total_lock);
    return (void *)1;
}

int main(void) {
    pthread_t threads[WORKERS];
    for (long number = 0; number < WORKERS; number++)
        pthread_create(&threads[number], NULL, work, (void *)number);
    long done = 0;
    for (int number = 0; number < WORKERS; number++) {
        void *result;
        pthread_join(threads[number], &result);
        done += (long)result;
    }
    return done == WORKERS && turn == WORKERS * ROUNDS && total == WORKERS * ROUNDS ? 0 : 1;
}
