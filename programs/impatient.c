// A thread waits a second for a lock that main gives back at once, and takes it ill if that is not
// soon enough. The lock is free when it asks, unless main is slow.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *wait_a_second(void *unused) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    if (pthread_mutex_timedlock(&lock, &until) == ETIMEDOUT) abort();
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, wait_a_second, NULL);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
