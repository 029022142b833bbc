// Writes one value to the primary and another to the backup of a register. At most one of them may
// acknowledge: else there are two registers.
#include "sockets.h"
#include <assert.h>
#include <pthread.h>

static void *put(void *argument) {
    int server = connected((int)(long)argument);
    say(server, 'v');
    long answer = hear(server);
    close(server);
    return (void *)answer;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: register_client PRIMARY_PORT BACKUP_PORT\n");
        return 2;
    }
    pthread_t threads[2];
    void *answers[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, put, (void *)(long)atoi(argv[i + 1]));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], &answers[i]);
    assert(!((long)answers[0] == 'y' && (long)answers[1] == 'y'));
    return 0;
}
