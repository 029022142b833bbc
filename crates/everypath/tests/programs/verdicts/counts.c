// One thread counts up to N under a mutex, another one looks at the count once: `counts N UNWANTED` fails
// if it sees UNWANTED.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int most, unwanted, count;

static void *add(void *unused) {
    for (int i = 0; i < most; i++) {
        pthread_mutex_lock(&mutex);
        count++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *look(void *unused) {
    pthread_mutex_lock(&mutex);
    int seen = count;
    pthread_mutex_unlock(&mutex);
    assert(seen != unwanted);
    return unused;
}

int main(int argc, char **argv) {
    assert(argc == 3);
    most = atoi(argv[1]);
    unwanted = atoi(argv[2]);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, add, NULL);
    pthread_create(&threads[1], NULL, look, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
