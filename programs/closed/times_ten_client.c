// Sends a number and expects ten times that number. `lucky`: should another number come, it waits
// for a signal that nobody will ever give.
#include "sockets.h"
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t signalled = PTHREAD_COND_INITIALIZER;

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: times_ten_client PORT [lucky]\n");
        return 2;
    }
    int is_lucky = argc > 2 && strcmp(argv[2], "lucky") == 0;
    int server = connected(atoi(argv[1]));
    say(server, 5);
    char answer = hear(server);
    printf("%d\n", answer);
    if (is_lucky && answer != 50) {
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&signalled, &lock);
        pthread_mutex_unlock(&lock);
    }
    close(server);
    return 0;
}
