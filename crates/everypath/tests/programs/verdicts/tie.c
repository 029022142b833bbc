// Two threads wait for a second each. The one that began first signals the other when it gives up;
// whether the other has given up by then, nobody knows.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t a = PTHREAD_COND_INITIALIZER, b = PTHREAD_COND_INITIALIZER;
static sem_t begun;

static struct timespec in_a_second(void) {
    struct timespec moment;
    clock_gettime(CLOCK_REALTIME, &moment);
    moment.tv_sec += 1;
    return moment;
}

static void *second(void *unused) {
    sem_wait(&begun);
    pthread_mutex_lock(&mutex);
    struct timespec moment = in_a_second();
    if (pthread_cond_timedwait(&b, &mutex, &moment) == 0)
        abort();
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *first(void *unused) {
    pthread_mutex_lock(&mutex);
    struct timespec moment = in_a_second();
    sem_post(&begun);
    pthread_cond_timedwait(&a, &mutex, &moment);
    pthread_cond_signal(&b);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t x, y;
    sem_init(&begun, 0, 0);
    pthread_create(&x, NULL, second, NULL);
    pthread_create(&y, NULL, first, NULL);
    pthread_join(x, NULL);
    return pthread_join(y, NULL);
}
