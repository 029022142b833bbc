// Threads that only yield, and count in plain memory until they give up.
#include <pthread.h>
#include <sched.h>

static volatile int flag;
static volatile long counts;

static void *waits(void *unused) {
    while (!flag && counts < 1000000) {
        sched_yield();
        counts++;
    }
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, waits, NULL);
    pthread_create(&b, NULL, waits, NULL);
    pthread_join(a, NULL);
    return pthread_join(b, NULL);
}
