// Connects to itself, more often than there is room for, and accepts nobody.
#include <arpa/inet.h>
#include <sys/socket.h>

int main(void) {
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof name;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&name, length) || listen(listener, 0)) return 1;
    if (getsockname(listener, (struct sockaddr *)&name, &length)) return 1;
    for (int i = 0; i < 3; i++) {
        int client = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(client, (struct sockaddr *)&name, length)) return 2;
    }
    return 0;
}
