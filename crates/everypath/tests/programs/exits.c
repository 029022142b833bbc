// `exits PORT` accepts a connection and exits with the digit that it receives; `exits PORT DIGIT CODE`
// sends the digit and exits with the code.
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int count, char **arguments) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[1]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (count > 3) {
        if (connect(connection, (struct sockaddr *)&address, sizeof address) != 0)
            return 9;
        write(connection, arguments[2], 1);
        return atoi(arguments[3]);
    }
    char digit;
    if (bind(connection, (struct sockaddr *)&address, sizeof address) != 0)
        return 9;
    listen(connection, 1);
    return read(accept(connection, NULL, NULL), &digit, 1) == 1 ? digit - '0' : 9;
}
