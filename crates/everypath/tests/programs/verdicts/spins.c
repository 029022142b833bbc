// An unfair spin that changes memory without a change of its value, or locks and unlocks a mutex
// in vain, until another thread is done.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static atomic_int word;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *finisher(void *unused) {
    pthread_mutex_lock(&mutex);
    done = 1;
    pthread_mutex_unlock(&mutex);
    atomic_exchange(&word, 0);
    return unused;
}

int main(int count, char **arguments) {
    int locks = count > 1 && !strcmp(arguments[1], "mutex");
    atomic_exchange(&word, 1);
    pthread_t thread;
    pthread_create(&thread, NULL, finisher, NULL);
    if (locks) {
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
