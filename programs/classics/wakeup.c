// A thread waits for a signal that may have been sent already: a lost wake-up. With the argument
// `fixed` it looks at a flag first.
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int is_ready;
static int fixed;

static void *prepare(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    is_ready = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv) {
    (void)argv;
    fixed = argc > 1;
    pthread_t helper;
    pthread_create(&helper, NULL, prepare, NULL);
    pthread_mutex_lock(&lock);
    if (!fixed) pthread_cond_wait(&ready, &lock);
    while (!is_ready) pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    pthread_join(helper, NULL);
    return 0;
}
