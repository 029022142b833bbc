// Threads share a buffer through functions of libc and syscalls. With "fixed" a lock orders them.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int fixed;
static const char *how;
static char shared[64];
static int pipe_ends[2];
static volatile size_t size = sizeof shared;

static void *fills(void *unused) {
    char own[64];
    memset(own, 'a', sizeof own - 1);
    own[63] = 0;
    if (fixed) pthread_mutex_lock(&lock);
    memcpy(shared, own, size);
    if (fixed) pthread_mutex_unlock(&lock);
    return unused;
}

static void *looks(void *unused) {
    size_t length = 0;
    if (fixed) pthread_mutex_lock(&lock);
    if (!strcmp(how, "strlen")) length = strlen(shared);
    if (!strcmp(how, "write")) length = write(pipe_ends[1], shared, size);
    if (!strcmp(how, "plain")) length = shared[7];
    if (fixed) pthread_mutex_unlock(&lock);
    return (void *)length;
}

int main(int count, char **arguments) {
    how = arguments[1];
    fixed = count > 2;
    if (pipe(pipe_ends)) return 1;
    pthread_t threads[2];
    pthread_create(&threads[0], 0, fills, 0);
    pthread_create(&threads[1], 0, looks, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}
