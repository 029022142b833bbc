// server | client: the server asks a service of the machine for something, and only then listens.
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void ask(void) {
    struct sockaddr_un service = {.sun_family = AF_UNIX, .sun_path = "/var/run/nscd/socket"};
    int socket_of_service = socket(AF_UNIX, SOCK_STREAM, 0);
    connect(socket_of_service, (struct sockaddr *)&service, sizeof service);
    close(socket_of_service);
}

int main(int argc, char **argv) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(7000)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int end = socket(AF_INET, SOCK_STREAM, 0);
    if (argc > 1 && !strcmp(argv[1], "server")) {
        ask();
        ask();
        if (bind(end, (struct sockaddr *)&address, sizeof address) || listen(end, 1))
            return 1;
        return accept(end, NULL, NULL) < 0;
    }
    return connect(end, (struct sockaddr *)&address, sizeof address) != 0;
}
