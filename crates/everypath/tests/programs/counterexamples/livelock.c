// Two threads wait for each other, yielding.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int one, other;

static void *wait_for_other(void *nothing) {
    atomic_store(&one, 1);
    while (!atomic_load(&other)) sched_yield();
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_other, NULL);
    while (atomic_load(&one) != 2) sched_yield();
    return 0;
}
