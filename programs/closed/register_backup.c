// A register that is kept twice: this is the backup. It takes what the primary hands on. If it hears
// nothing for a second it believes that the primary is gone, and takes over: from then on it
// acknowledges what clients write, and takes nothing from the primary any more.
#include "sockets.h"
#include <pthread.h>
#include <sys/time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_primary, has_value;

static void *replicate(void *argument) {
    int primary = accepted((int)(long)argument);
    struct timeval patience = {.tv_sec = 1};
    setsockopt(primary, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    char value;
    ssize_t got = read(primary, &value, 1);
    pthread_mutex_lock(&lock);
    if (got == 1) has_value = 1;
    else is_primary = 1;
    pthread_mutex_unlock(&lock);
    if (got < 0) {
        struct timeval forever = {0};
        setsockopt(primary, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof forever);
        got = read(primary, &value, 1);
        if (got == 1) send(primary, "n", 1, MSG_NOSIGNAL);
    } else if (got == 1) {
        send(primary, "y", 1, MSG_NOSIGNAL);
    }
    close(primary);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: register_backup PORT PRIMARY_PORT\n");
        return 2;
    }
    int for_primary = listening(atoi(argv[2]));
    int listener = listening(atoi(argv[1]));
    pthread_t replica;
    pthread_create(&replica, NULL, replicate, (void *)(long)for_primary);
    int client = accepted(listener);
    hear(client);
    pthread_mutex_lock(&lock);
    int takes = is_primary && !has_value;
    pthread_mutex_unlock(&lock);
    say(client, takes ? 'y' : 'n');
    close(client);
    pthread_join(replica, NULL);
    close(for_primary);
    close(listener);
    return 0;
}
