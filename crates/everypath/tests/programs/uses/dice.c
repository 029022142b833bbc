// "serve PORT": answers each connection with random bytes. "ask PORT [MOST]": asks once; it fails if there
// is a largest byte, and the answer is larger.
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int one = 1, here = socket(AF_INET, SOCK_STREAM, 0);
    unsigned char bytes[8];
    if (!strcmp(argv[1], "ask")) {
        if (connect(here, (struct sockaddr *)&address, sizeof address)) return 2;
        if (send(here, "?", 1, 0) != 1 || recv(here, bytes, sizeof bytes, MSG_WAITALL) != 8) return 3;
        return argc > 3 && bytes[0] > atoi(argv[3]);
    }
    setsockopt(here, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(here, (struct sockaddr *)&address, sizeof address) || listen(here, 5)) return 2;
    for (int random = open("/dev/urandom", O_RDONLY);;) {
        int client = accept(here, NULL, NULL);
        if (recv(client, bytes, 1, 0) == 1 && read(random, bytes, sizeof bytes) == 8)
            send(client, bytes, sizeof bytes, 0);
        close(client);
    }
}
