// Serves one client at a port, and only then one at the next port.
#include "sockets.h"

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: two_ports_server PORT\n");
        return 2;
    }
    int first = atoi(argv[1]);
    int listeners[] = {listening(first), listening(first + 1)};
    for (int i = 0; i < 2; i++) {
        int client = accepted(listeners[i]);
        say(client, hear(client));
        close(client);
    }
    return 0;
}
