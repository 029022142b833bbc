// Every execution computes for a while, and fails if the second thread is not first.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int first;
static volatile unsigned long sink;

static void *one(void *_)
{
    for (unsigned long i = 0; i < 100000000; i++)
        sink = i;
    atomic_fetch_add(&first, 1);
    return _;
}

static void *two(void *_)
{
    assert(atomic_load(&first) == 0);
    return _;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, two, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
