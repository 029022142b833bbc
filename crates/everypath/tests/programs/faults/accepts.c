// A server and its client in one process: a byte goes over. With `careful`, a call that finds no
// descriptor free is repeated.

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in address = {.sin_family = AF_INET};
static bool careful;

static int a_socket(void) {
    int made;
    do
        made = socket(AF_INET, SOCK_STREAM, 0);
    while (careful && made < 0 && errno == EMFILE);
    return made;
}

static void *client(void *unused) {
    (void)unused;
    int server = a_socket();
    if (server < 0 || connect(server, (struct sockaddr *)&address, sizeof address) ||
        write(server, "x", 1) != 1)
        return &address;
    return NULL;
}

int main(int count, char **arguments) {
    (void)arguments;
    careful = count > 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = a_socket(), connection;
    socklen_t length = sizeof address;
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) ||
        listen(listener, 1) || getsockname(listener, (struct sockaddr *)&address, &length))
        return 1;
    pthread_t thread;
    pthread_create(&thread, NULL, client, NULL);
    do
        connection = accept(listener, NULL, NULL);
    while (careful && connection < 0 && errno == EMFILE);
    char byte;
    if (connection < 0 || read(connection, &byte, 1) != 1)
        return 2;
    void *failed;
    pthread_join(thread, &failed);
    return failed ? 3 : 0;
}
