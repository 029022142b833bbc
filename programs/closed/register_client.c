// Writes one value to the primary and another to the backup of a register. At most one of them may
// acknowledge: else there are two registers. Who cannot be reached acknowledges nothing.
// `late`: writes to the backup two seconds after the primary has answered.
#include "sockets.h"
#include <assert.h>
#include <pthread.h>
#include <string.h>

static void *put(void *argument) {
    char answer = 'n';
    int server = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = port((int)(long)argument);
    if (connect(server, (struct sockaddr *)&address, sizeof address) == 0 &&
        send(server, "v", 1, MSG_NOSIGNAL) == 1 && read(server, &answer, 1) != 1)
        answer = 'n';
    close(server);
    return (void *)(long)answer;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: register_client PRIMARY_PORT BACKUP_PORT [late]\n");
        return 2;
    }
    void *answers[2];
    void *to[2] = {(void *)(long)atoi(argv[1]), (void *)(long)atoi(argv[2])};
    if (argc > 3 && strcmp(argv[3], "late") == 0) {
        answers[0] = put(to[0]);
        sleep(2);
        answers[1] = put(to[1]);
    } else {
        pthread_t threads[2];
        for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, put, to[i]);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], &answers[i]);
    }
    assert(!((long)answers[0] == 'y' && (long)answers[1] == 'y'));
    return 0;
}
