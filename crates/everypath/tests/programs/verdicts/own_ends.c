// Both ends of a connection are in the program, which listens: each waits for the other to speak. With an
// argument, another thread still waits for clients.
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int listener;
static struct sockaddr_in address = {.sin_family = AF_INET};

static void *call(void *nothing) {
    char byte;
    int client = socket(AF_INET, SOCK_STREAM, 0);
    connect(client, (struct sockaddr *)&address, sizeof address);
    read(client, &byte, 1);
    return nothing;
}

static void *serve(void *nothing) {
    accept(listener, NULL, NULL);
    return nothing;
}

int main(int count, char **arguments) {
    (void)arguments;
    char byte;
    address.sin_port = htons(7790);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    bind(listener, (struct sockaddr *)&address, sizeof address);
    listen(listener, 5);
    pthread_t caller, server;
    pthread_create(&caller, NULL, call, NULL);
    int accepted = accept(listener, NULL, NULL);
    if (count > 1) pthread_create(&server, NULL, serve, NULL);
    read(accepted, &byte, 1);
    pthread_join(caller, NULL);
    return 0;
}
