// Two threads ask a server at a port each, one after the other: whoever is faster goes first.
// `ordered`: the first port is always asked first.
#include "sockets.h"
#include <assert.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void *ask(void *argument) {
    pthread_mutex_lock(&turn);
    int server = connected((int)(long)argument);
    say(server, 'x');
    assert(hear(server) == 'x');
    close(server);
    pthread_mutex_unlock(&turn);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: two_ports_client PORT [ordered]\n");
        return 2;
    }
    long first = atoi(argv[1]);
    int is_ordered = argc > 2 && strcmp(argv[2], "ordered") == 0;
    pthread_t one, other;
    pthread_create(&one, NULL, ask, (void *)first);
    if (is_ordered) pthread_join(one, NULL);
    pthread_create(&other, NULL, ask, (void *)(first + 1));
    if (!is_ordered) pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
