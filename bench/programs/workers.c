/* Four threads that use most of what pthreads offer, in two rounds. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 4, ROUNDS = 2 };

static pthread_mutex_t turn_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t total_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t nested;
static pthread_key_t key;
static sem_t finished;
static int turn, total, initialised, destroyed;
static __thread int rounds_done;

static void initialise(void) { initialised++; }

static void destroy(void *value) {
    destroyed += *(int *)value;
    free(value);
}

static void take_turn(int number) {
    pthread_mutex_lock(&turn_mutex);
    while (turn % WORKERS != number)
        pthread_cond_wait(&turn_changed, &turn_mutex);
    turn++;
    pthread_cond_broadcast(&turn_changed);
    pthread_mutex_unlock(&turn_mutex);
}

static void count(void) {
    pthread_rwlock_wrlock(&total_lock);
    total++;
    pthread_rwlock_unlock(&total_lock);
    pthread_rwlock_rdlock(&total_lock);
    int seen = total;
    pthread_rwlock_unlock(&total_lock);
    if (seen < 1)
        abort();
}

static void *work(void *argument) {
    int number = (int)(long)argument;
    int *kept = malloc(sizeof *kept);
    *kept = 1;
    pthread_setspecific(key, kept);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_once(&once, initialise);
        errno = 1000 + number;
        sched_yield();
        if (errno != 1000 + number)
            abort();
        char line[64];
        snprintf(line, sizeof line, "worker %d round %d", number, round);
        char *copy = strdup(line);
        take_turn(number);
        count();
        pthread_mutex_lock(&nested);
        pthread_mutex_lock(&nested);
        pthread_mutex_unlock(&nested);
        pthread_mutex_unlock(&nested);
        printf("%s %d\n", copy, rounds_done++);
        free(copy);
    }
    sem_post(&finished);
    if (number == 2)
        pthread_exit((void *)(long)rounds_done);
    return (void *)(long)rounds_done;
}

int main(void) {
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&nested, &recursive);
    pthread_key_create(&key, destroy);
    sem_init(&finished, 0, 0);
    pthread_t threads[WORKERS];
    for (long number = 0; number < WORKERS; number++)
        pthread_create(&threads[number], NULL, work, (void *)number);
    for (int number = 0; number < WORKERS; number++)
        sem_wait(&finished);
    long sum = 0;
    for (int number = 0; number < WORKERS; number++) {
        void *result;
        pthread_join(threads[number], &result);
        sum += (long)result;
    }
    int all = WORKERS * ROUNDS;
    int right = sum == all && turn == all && total == all && initialised == 1 && destroyed == WORKERS;
    return right ? 0 : 1;
}
