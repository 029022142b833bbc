// Answers every digit with a letter: `0` with `a`, `1` with `b` and so on. Each client has a
// thread. Given a number of clients, it ends after so many.
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void *serve(void *argument) {
    int client = (int)(long)argument;
    char byte;
    while (read(client, &byte, 1) == 1) {
        assert(byte >= '0' && byte <= '9');
        byte += 'a' - '0';
        assert(write(client, &byte, 1) == 1);
    }
    close(client);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: alphabet_server PORT [CLIENTS]\n");
        return 2;
    }
    int clients = argc > 2 ? atoi(argv[2]) : 0, yes = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(atoi(argv[1])),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 128) != 0) {
        perror("listen");
        return 1;
    }
    getsockname(listener, (struct sockaddr *)&address, &length);
    printf("listening on %d\n", ntohs(address.sin_port));
    fflush(stdout);
    pthread_t *threads = calloc(clients, sizeof *threads);
    for (int served = 0; clients == 0 || served < clients; served++) {
        pthread_t thread;
        int client = accept(listener, NULL, NULL);
        assert(client >= 0);
        pthread_create(&thread, NULL, serve, (void *)(long)client);
        if (clients == 0) pthread_detach(thread);
        else threads[served] = thread;
    }
    for (int i = 0; i < clients; i++) pthread_join(threads[i], NULL);
    free(threads);
    return 0;
}
