// Sends what one client says to all of them, the one that said it included. A message is a byte.
// It waits for all clients, gives each a thread, and ends when all have left.

#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 16 };
static int everybody[MOST], clients;
static pthread_mutex_t talking = PTHREAD_MUTEX_INITIALIZER;

/// Passes on what a client says. The lock is held for a whole message: all see the same order.
static void *serve(void *argument) {
    int client = *(int *)argument;
    char message;
    ssize_t got;
    while ((got = read(client, &message, 1)) == 1) {
        pthread_mutex_lock(&talking);
        for (int at = 0; at < clients; at++) {
            ssize_t written = write(everybody[at], &message, 1);
            assert(written == 1 && "all stay until they heard everybody");
        }
        pthread_mutex_unlock(&talking);
    }
    assert(got == 0 && "the client leaves in order");
    return NULL;
}

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "usage: chat_server PORT CLIENTS\n");
        return 2;
    }
    clients = atoi(arguments[2]);
    assert(0 < clients && clients <= MOST);
    int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[1]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int bound = bind(listener, (struct sockaddr *)&address, sizeof address);
    assert(bound == 0 && "the port is free");
    listen(listener, MOST);
    for (int at = 0; at < clients; at++)
        everybody[at] = accept(listener, NULL, NULL);
    pthread_t threads[MOST];
    for (int at = 0; at < clients; at++)
        pthread_create(&threads[at], NULL, serve, &everybody[at]);
    for (int at = 0; at < clients; at++)
        pthread_join(threads[at], NULL);
    return 0;
}
