// remembers serve PORT: answers each request with how many there were, over all connections.
// remembers holds PORT: two threads ask, and what they are told makes no difference.
// remembers fails PORT: fails if the thread that asks again and again is told something large.
// remembers first PORT: fails if the other thread has asked first.
// remembers twice PORT: asks on two connections, one after the other, and fails unless told 1 and 2.
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in at = {.sin_family = AF_INET};
static unsigned char told[2];

static void serve(void) {
    int s = socket(AF_INET, SOCK_STREAM, 0), yes = 1, count = 1;
    struct pollfd all[64] = {{s, POLLIN, 0}};
    unsigned char requests = 0, request;
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(s, (struct sockaddr *)&at, sizeof at) != 0 || listen(s, 5) != 0) exit(2);
    for (;;) {
        poll(all, count, -1);
        if (all[0].revents && count < 64) {
            all[count++] = (struct pollfd){accept(s, NULL, NULL), POLLIN, 0};
            continue;
        }
        for (int i = 1; i < count; i++) {
            if (all[i].revents == 0) continue;
            if (read(all[i].fd, &request, 1) == 1) {
                requests++;
                if (write(all[i].fd, &requests, 1) != 1) exit(2);
            } else {
                close(all[i].fd);
                all[i--] = all[--count];
            }
        }
    }
}

static void *ask(void *argument) {
    int s = socket(AF_INET, SOCK_STREAM, 0), which = (int)(long)argument;
    if (connect(s, (struct sockaddr *)&at, sizeof at) != 0) exit(2);
    if (write(s, "?", 1) != 1 || read(s, &told[which], 1) != 1) exit(2);
    close(s);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    at.sin_port = htons((unsigned short)atoi(argv[2]));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (strcmp(argv[1], "serve") == 0) serve();
    if (strcmp(argv[1], "twice") == 0) {
        ask((void *)0L);
        ask((void *)1L);
        return told[0] != 1 || told[1] != 2;
    }
    pthread_t other;
    pthread_create(&other, NULL, ask, (void *)1L);
    ask((void *)0L);
    pthread_join(other, NULL);
    // Of two requests none is the third, but the server was asked by other executions, too.
    if (strcmp(argv[1], "fails") == 0) return told[0] > 2 || told[1] > 2;
    if (strcmp(argv[1], "first") == 0) return told[0] != 1;
    return 0;
}
