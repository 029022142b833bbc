// A consumer that does not look again after it was woken; or does; or is never woken.
#include <assert.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;
static const char *how;

static void *consumer(void *unused) {
    pthread_mutex_lock(&mutex);
    if (!strcmp(how, "while") || !strcmp(how, "lost"))
        while (!ready)
            pthread_cond_wait(&changed, &mutex);
    else if (!ready)
        pthread_cond_wait(&changed, &mutex);
    assert(ready);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(int argc, char **argv) {
    pthread_t thread;
    how = argc > 1 ? argv[1] : "if";
    pthread_create(&thread, NULL, consumer, NULL);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_mutex_unlock(&mutex);
    if (strcmp(how, "lost"))
        pthread_cond_signal(&changed);
    return pthread_join(thread, NULL);
}
