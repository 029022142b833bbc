// A thread is still at work when its process ends.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *how = "";
static atomic_int count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *works(void *unused) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&mutex);
        count++;
        pthread_mutex_unlock(&mutex);
    }
    assert(strcmp(how, "late") || count < 3);
    if (!strcmp(how, "says")) (void)!write(1, "done\n", 5);
    while (!strcmp(how, "for ever")) count = count % 7 + 1;
    return unused;
}

int main(int argc, char **argv) {
    if (argc > 1) how = argv[1];
    pthread_t thread;
    pthread_create(&thread, NULL, works, NULL);
    pthread_detach(thread);
    return 0;
}
