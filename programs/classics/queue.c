// A queue of one item whose consumer, once woken, does not look again whether the item is there:
// the producer may have taken it back. With the argument `fixed` it does.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;
static int fixed;

static void put(void) {
    pthread_mutex_lock(&lock);
    items++;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
}

static int take_back(void) {
    pthread_mutex_lock(&lock);
    int taken = items;
    items = 0;
    pthread_mutex_unlock(&lock);
    return taken;
}

static void *take(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    if (items == 0) pthread_cond_wait(&filled, &lock);
    while (fixed && items == 0) pthread_cond_wait(&filled, &lock);
    assert(items > 0 && "an item is taken that is not there");
    items--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv) {
    (void)argv;
    fixed = argc > 1;
    pthread_t consumer;
    pthread_create(&consumer, NULL, take, NULL);
    put();
    if (take_back()) put();
    pthread_join(consumer, NULL);
    return items;
}
