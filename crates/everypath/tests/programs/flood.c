// Sends bytes to a port for ever, or receives them.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    struct sockaddr_in there = {
        .sin_family = AF_INET,
        .sin_port = htons(atoi(argv[1])),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int made = socket(AF_INET, SOCK_STREAM, 0);
    char byte = 0;
    if (strcmp(argv[2], "send") == 0) {
        if (connect(made, (struct sockaddr *)&there, sizeof there) != 0) return 3;
        while (write(made, &byte, 1) == 1);
    } else {
        if (bind(made, (struct sockaddr *)&there, sizeof there) != 0) return 3;
        listen(made, 1);
        int from = accept(made, NULL, NULL);
        while (read(from, &byte, 1) == 1);
    }
    return 0;
}
