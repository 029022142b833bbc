// The parent sets a variable after it has created the thread that reads it.
#include <assert.h>
#include <pthread.h>

static volatile int ready;

static void *child(void *unused) {
    assert(ready);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, child, NULL);
    ready = 1;
    return pthread_join(thread, NULL);
}
