// several ask PORT...: sends a datagram to each port from one socket, and prints the answers as they come.
// several serve PORT LETTER: answers each datagram with a letter.
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET}, from;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    char letter;
    if (strcmp(argv[1], "serve") == 0) {
        at.sin_port = htons(atoi(argv[2]));
        if (bind(s, (struct sockaddr *)&at, sizeof at) != 0) return 1;
        for (socklen_t length = sizeof from;;) {
            recvfrom(s, &letter, 1, 0, (struct sockaddr *)&from, &length);
            sendto(s, argv[3], 1, 0, (struct sockaddr *)&from, length);
        }
    }
    for (int i = 2; i < argc; i++) {
        at.sin_port = htons(atoi(argv[i]));
        sendto(s, "?", 1, 0, (struct sockaddr *)&at, sizeof at);
    }
    for (int i = 2; i < argc; i++)
        if (recv(s, &letter, 1, 0) == 1) putchar(letter);
    return 0;
}
