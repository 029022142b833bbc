// A thread looks at a flag three times, with `pause` or `sched_yield` in between, and gives up.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_int flag;
static int looks, yields;

static void *looker(void *unused) {
    for (int look = 0; look < looks; look++) {
        if (atomic_load(&flag)) return unused;
        if (yields) sched_yield();
        else __builtin_ia32_pause();
    }
    assert(!"gave up");
    return unused;
}

int main(int count, char **arguments) {
    looks = count > 1 ? atoi(arguments[1]) : 3;
    yields = count > 2 && !strcmp(arguments[2], "yield");
    pthread_t thread;
    pthread_create(&thread, NULL, looker, NULL);
    atomic_exchange(&flag, 1);
    return pthread_join(thread, NULL);
}
