// One thread frees what another one may still use. With "fixed" the order is right.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct item {
    long value;
    char name[24];
};
static int fixed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct item *shared;

static void *uses(void *unused) {
    pthread_mutex_lock(&lock);
    struct item *mine = shared;
    if (!fixed) pthread_mutex_unlock(&lock);
    if (mine) mine->value = 1;
    if (fixed) pthread_mutex_unlock(&lock);
    return unused;
}

static void *frees(void *unused) {
    pthread_mutex_lock(&lock);
    struct item *old = shared;
    shared = 0;
    pthread_mutex_unlock(&lock);
    free(old);
    return unused;
}

int main(int count, char **arguments) {
    fixed = count > 1 && !strcmp(arguments[1], "fixed");
    shared = malloc(sizeof *shared);
    pthread_t threads[2];
    pthread_create(&threads[0], 0, uses, 0);
    pthread_create(&threads[1], 0, frees, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}
