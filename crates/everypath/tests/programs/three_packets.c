// Sends itself three datagrams over a network that may lose the first two.
#include "../../../verify/include/everypath.h"
#include <arpa/inet.h>
#include <sys/socket.h>

int main(void) {
    struct sockaddr_in self = {.sin_family = AF_INET, .sin_port = htons(7411)};
    self.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    char got[16];
    if (bind(fd, (struct sockaddr *)&self, sizeof self) != 0) return 1;
    for (int packet = 0; packet < 3; packet++) {
        everypath_unreliable(packet < 2);
        sendto(fd, "hello", 5, 0, (struct sockaddr *)&self, sizeof self);
        recv(fd, got, sizeof got, MSG_DONTWAIT);
    }
    return 0;
}
