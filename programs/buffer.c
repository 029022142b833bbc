// A buffer for one item, with two producers and two consumers on one condition variable.
// Waking all is right; with an argument only one is woken, and it may be the wrong one.
#include <pthread.h>
#include <stddef.h>

static int wake_one;
static int item, full;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void wake(void) {
    if (wake_one) pthread_cond_signal(&changed);
    else pthread_cond_broadcast(&changed);
}

static void *produce(void *argument) {
    pthread_mutex_lock(&mutex);
    while (full) pthread_cond_wait(&changed, &mutex);
    item = (int)(long)argument;
    full = 1;
    wake();
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *consume(void *sum) {
    pthread_mutex_lock(&mutex);
    while (!full) pthread_cond_wait(&changed, &mutex);
    *(int *)sum += item;
    full = 0;
    wake();
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(int argc, char **argv) {
    (void)argv;
    wake_one = argc > 1;
    int sum = 0;
    pthread_t threads[4];
    pthread_create(&threads[0], NULL, produce, (void *)1);
    pthread_create(&threads[1], NULL, produce, (void *)2);
    pthread_create(&threads[2], NULL, consume, &sum);
    pthread_create(&threads[3], NULL, consume, &sum);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    return sum != 3;
}
