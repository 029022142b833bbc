// A client that takes a refused connection for success.
#include <arpa/inet.h>
#include <sys/socket.h>

int main(void)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(7778) };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connect(s, (struct sockaddr *)&address, sizeof address);
    return 0;
}
