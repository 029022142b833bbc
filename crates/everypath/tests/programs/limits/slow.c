// Every execution computes for a while, and fails.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 8 };

static atomic_int ended;
static volatile unsigned long sink;

static void *work(void *_)
{
    for (unsigned long i = 0; i < 200000000; i++)
        sink = i;
    atomic_fetch_add(&ended, 1);
    return _;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    assert(atomic_load(&ended) != THREADS);
    return 0;
}
