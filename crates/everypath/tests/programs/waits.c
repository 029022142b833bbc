// waits lost PORT: sends a datagram from a socket that was never bound, and waits for the answer.
// waits serve PORT: accepts a client and waits for its request, and does not listen meanwhile.
// waits call PORT: connects and waits to be greeted.
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    struct sockaddr_in at = {.sin_family = AF_INET};
    at.sin_port = htons((unsigned short)atoi(argv[2]));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    char byte;
    if (strcmp(argv[1], "lost") == 0) {
        int s = socket(AF_INET, SOCK_DGRAM, 0);
        sendto(s, "q", 1, 0, (struct sockaddr *)&at, sizeof at);
        return recv(s, &byte, 1, 0) != 1;
    }
    int s = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    if (strcmp(argv[1], "call") == 0) {
        if (connect(s, (struct sockaddr *)&at, sizeof at) != 0) return 2;
        return recv(s, &byte, 1, 0) < 0;
    }
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(s, (struct sockaddr *)&at, sizeof at) != 0 || listen(s, 1) != 0) return 2;
    for (;;) {
        int client = accept(s, NULL, NULL);
        while (recv(client, &byte, 1, 0) == 1)
            if (send(client, &byte, 1, 0) != 1) return 2;
        close(client);
    }
}
