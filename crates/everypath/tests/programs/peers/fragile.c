// fragile serve PORT: adds up what each connection sends, a byte each, and aborts if that gets out of order.
// fragile ask PORT: two threads send one byte each on one connection, in any order.
// fragile ends PORT: sends nothing but a wrong byte.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int s;

static void *send_second(void *unused) {
    (void)unused;
    write(s, "2", 1);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s = socket(AF_INET, SOCK_STREAM, 0);
    if (strcmp(argv[1], "serve") == 0) {
        int on = 1;
        setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(s, (struct sockaddr *)&at, sizeof at) != 0 || listen(s, 8) != 0) return 1;
        for (;;) {
            int client = accept(s, NULL, NULL);
            char last = '0', byte;
            while (read(client, &byte, 1) == 1) {
                if (byte < last) abort();
                last = byte;
            }
            close(client);
        }
    }
    if (connect(s, (struct sockaddr *)&at, sizeof at) != 0) return 3;
    if (strcmp(argv[1], "ends") == 0) return write(s, " ", 1) != 1;
    pthread_t thread;
    pthread_create(&thread, NULL, send_second, NULL);
    write(s, "1", 1);
    pthread_join(thread, NULL);
    return 0;
}
