// spins HOW: spins without `pause` until another thread is done, by exchanging a word, by locking a
// mutex and unlocking it again, or by trying to lock one.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static atomic_int word = 1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *finisher(void *unused) {
    pthread_mutex_lock(&mutex);
    done = 1;
    pthread_mutex_unlock(&mutex);
    atomic_exchange(&word, 0);
    return unused;
}

static void *holder(void *unused) {
    pthread_mutex_lock(&held);
    pthread_mutex_lock(&mutex);
    done = 1;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_unlock(&held);
    return unused;
}

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "";
    pthread_t thread;
    pthread_create(&thread, NULL, strcmp(how, "trylock") ? finisher : holder, NULL);
    if (!strcmp(how, "trylock")) {
        while (pthread_mutex_trylock(&held)) {
        }
        pthread_mutex_unlock(&held);
    } else if (!strcmp(how, "mutex")) {
        for (int is_done = 0; !is_done;) {
            pthread_mutex_lock(&mutex);
            is_done = done;
            pthread_mutex_unlock(&mutex);
        }
    } else {
        while (atomic_exchange(&word, 1)) {
        }
    }
    return pthread_join(thread, NULL);
}
