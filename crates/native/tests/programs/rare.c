// What happens in few of all schedules: one thread takes all its steps after the other has ended
// ("last"), or between two certain steps of the other ("between"); and threads that try again and
// again while another should move ("spin").
#include <assert.h>
#include <pthread.h>
#include <string.h>

enum { ROUNDS = 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static int rounds;
static const char *kind;

static int seen(void) {
    pthread_mutex_lock(&mutex);
    int now = rounds;
    pthread_mutex_unlock(&mutex);
    return now;
}

static void *count(void *argument) {
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        rounds++;
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

static void *look(void *argument) {
    int before = seen(), after = seen();
    if (strcmp(kind, "last") == 0) assert(before != ROUNDS);
    else assert(before != 0 || after != ROUNDS);
    return argument;
}

static void *hold(void *argument) {
    pthread_mutex_lock(&held);
    count(NULL);
    pthread_mutex_unlock(&held);
    return argument;
}

static void *try(void *argument) {
    while (pthread_mutex_trylock(&held) != 0) {}
    pthread_mutex_unlock(&held);
    return argument;
}

int main(int argc, char **argv) {
    kind = argc > 1 ? argv[1] : "last";
    int spin = strcmp(kind, "spin") == 0;
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, spin ? hold : count, NULL);
    pthread_create(&threads[1], NULL, spin ? try : look, NULL);
    pthread_create(&threads[2], NULL, spin ? try : look, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    return 0;
}
