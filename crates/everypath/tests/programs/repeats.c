// repeats serve PORT: answers a request, and again whenever nobody says thanks for 300 milliseconds.
// repeats ask PORT: waits a second for an answer.
#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static struct sockaddr_in at = {.sin_family = AF_INET};

static int serve(int s) {
    if (bind(s, (struct sockaddr *)&at, sizeof at) != 0) return 2;
    for (;;) {
        struct sockaddr_in client;
        socklen_t length = sizeof client;
        char request;
        recvfrom(s, &request, 1, 0, (struct sockaddr *)&client, &length);
        struct pollfd thanks = {.fd = s, .events = POLLIN};
        do sendto(s, "a", 1, 0, (struct sockaddr *)&client, length);
        while (request == 'q' && poll(&thanks, 1, 300) == 0);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    at.sin_port = htons((unsigned short)atoi(argv[2]));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (strcmp(argv[1], "serve") == 0) return serve(s);
    struct timeval patience = {.tv_sec = 1};
    char answer;
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    connect(s, (struct sockaddr *)&at, sizeof at);
    send(s, "q", 1, 0);
    return recv(s, &answer, 1, 0) != 1;
}
