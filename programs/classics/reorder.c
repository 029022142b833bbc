// Two values that belong together are stored one after the other, and looked at in between. With
// the argument `fixed` they are stored and looked at under one lock.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int here, there;
static int fixed;

static void *set(void *unused) {
    (void)unused;
    if (fixed) pthread_mutex_lock(&lock);
    atomic_store(&here, 1);
    atomic_store(&there, -1);
    if (fixed) pthread_mutex_unlock(&lock);
    return NULL;
}

static void check(void) {
    if (fixed) pthread_mutex_lock(&lock);
    int sum = atomic_load(&here) + atomic_load(&there);
    if (fixed) pthread_mutex_unlock(&lock);
    assert(sum == 0);
}

int main(int argc, char **argv) {
    (void)argv;
    fixed = argc > 1;
    pthread_t setter;
    pthread_create(&setter, NULL, set, NULL);
    check();
    pthread_join(setter, NULL);
    return 0;
}
