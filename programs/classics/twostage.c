// A value and what is derived from it are stored in two stages, each under a lock of its own, and
// read the same way: a reader may get between the stages. With the argument `fixed` the second
// stage begins before the first one ends.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static int value, derived;
static int fixed;

static void next_stage(void) {
    if (fixed) pthread_mutex_lock(&second);
    pthread_mutex_unlock(&first);
    if (!fixed) pthread_mutex_lock(&second);
}

static void *store(void *unused) {
    (void)unused;
    pthread_mutex_lock(&first);
    value = 1;
    next_stage();
    derived = value + 1;
    pthread_mutex_unlock(&second);
    return NULL;
}

static void check(void) {
    pthread_mutex_lock(&first);
    int read = value;
    next_stage();
    assert(read == 0 || derived == read + 1);
    pthread_mutex_unlock(&second);
}

int main(int argc, char **argv) {
    (void)argv;
    fixed = argc > 1;
    pthread_t writer;
    pthread_create(&writer, NULL, store, NULL);
    check();
    pthread_join(writer, NULL);
    return 0;
}
