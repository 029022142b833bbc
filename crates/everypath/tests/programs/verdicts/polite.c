// Two threads that give back their first lock if they cannot get the second one: both may do so for
// ever. With an argument they take them in the same order.
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    for (;;) {
        pthread_mutex_lock(first);
        if (!pthread_mutex_trylock(second)) break;
        pthread_mutex_unlock(first);
        sched_yield();
    }
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *other(void *same) {
    if (same)
        both(&left, &right);
    else
        both(&right, &left);
    return NULL;
}

int main(int argc, char **argv) {
    (void)argv;
    pthread_t thread;
    pthread_create(&thread, NULL, other, argc > 1 ? &left : NULL);
    both(&left, &right);
    return pthread_join(thread, NULL);
}
