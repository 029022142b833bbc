/* A thread waits for another one twice, and gives up after three looks. That it does so both times is
   wrong. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int first, second;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *look(void *unused) {
    (void)unused;
    int look;
    for (look = 0; look < 3 && !atomic_load(&first); look++) __builtin_ia32_pause();
    if (look < 3) return NULL;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    for (look = 0; look < 3 && !atomic_load(&second); look++) __builtin_ia32_pause();
    assert(look < 3);
    return NULL;
}

int main(void) {
    pthread_t looker;
    pthread_create(&looker, NULL, look, NULL);
    atomic_store(&first, 1);
    atomic_store(&second, 1);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(looker, NULL);
    return 0;
}
