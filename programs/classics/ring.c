// Who has the token may enter; it is handed on before the door is closed. With the argument
// `fixed` it is handed on after that.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

enum { STATIONS = 2 };

static atomic_int token;
static atomic_int door;
static int fixed;

static void *visit(void *number) {
    int me = (int)(long)number;
    while (atomic_load(&token) != me) sched_yield();
    assert(atomic_exchange(&door, 1) == 0 && "two are inside");
    if (!fixed) atomic_store(&token, (me + 1) % STATIONS);
    atomic_store(&door, 0);
    if (fixed) atomic_store(&token, (me + 1) % STATIONS);
    return NULL;
}

int main(int argc, char **argv) {
    (void)argv;
    fixed = argc > 1;
    pthread_t stations[STATIONS - 1];
    for (long i = 1; i < STATIONS; i++) pthread_create(&stations[i - 1], NULL, visit, (void *)i);
    visit((void *)0);
    for (int i = 1; i < STATIONS; i++) pthread_join(stations[i - 1], NULL);
    return 0;
}
