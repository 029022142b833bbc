// A thread shows its own variable to another: both add to it, with nothing between them.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

static __thread int own;
static _Atomic(int *) shown;

static void *owner(void *unused) {
    own = 1;
    atomic_store(&shown, &own);
    int before = own;
    __asm__ volatile("" ::: "memory");
    own = before + 1;
    while (atomic_load(&shown))
        sched_yield();
    assert(own == 3);
    return unused;
}

static void *visitor(void *unused) {
    int *seen;
    while (!(seen = atomic_load(&shown)))
        sched_yield();
    *(volatile int *)seen += 1;
    atomic_store(&shown, NULL);
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, owner, NULL);
    pthread_create(&other, NULL, visitor, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
