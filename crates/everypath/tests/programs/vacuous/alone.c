// A server for one client, which nobody starts; with an argument it is its own client.
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = 0x611e };

static void *client(void *_)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);
    connect(s, (const struct sockaddr *)&address, sizeof address);
    close(s);
    return _;
}

int main(int count, char **arguments)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);
    bind(s, (const struct sockaddr *)&address, sizeof address);
    listen(s, 5);
    pthread_t thread;
    if (count > 1)
        pthread_create(&thread, 0, client, arguments);
    for (;;)
        close(accept(s, 0, 0));
}
