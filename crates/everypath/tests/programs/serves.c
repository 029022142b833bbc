// serves serve PORT HOW COUNT...: a thread for each COUNT takes up to so many letters from one socket
// and answers each, from the same socket or, if HOW is "own", from one of its own, where it waits for
// thanks. What the threads have heard is the exit code.
// serves ask PORT LETTERS: sends letters one by one, each when the one before was answered, and says
// thanks to wherever an answer comes from that is not PORT.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

static struct sockaddr_in at = {.sin_family = AF_INET};
static int door, has_own;
static unsigned heard[8];

static void limit(int s) {
    struct timeval patience = {.tv_sec = 1};
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

static void *serve(void *work) {
    unsigned *mine = work;
    for (unsigned left = *mine, *sum = (*mine = 1, mine); left > 0; left--) {
        struct sockaddr_in client;
        socklen_t length = sizeof client;
        char letter, thanks;
        if (recvfrom(door, &letter, 1, 0, (struct sockaddr *)&client, &length) != 1) break;
        *sum = *sum * 7 + (unsigned)(letter - 'a') + 1;
        int s = has_own ? socket(AF_INET, SOCK_DGRAM, 0) : door;
        sendto(s, &letter, 1, 0, (struct sockaddr *)&client, length);
        if (has_own) {
            limit(s);
            if (recv(s, &thanks, 1, 0) == 1) *sum += 3;
        }
    }
    return NULL;
}

static int ask(int s, const char *letters) {
    for (; *letters; letters++) {
        struct sockaddr_in from;
        socklen_t length = sizeof from;
        char answer;
        sendto(s, letters, 1, 0, (struct sockaddr *)&at, sizeof at);
        if (recvfrom(s, &answer, 1, 0, (struct sockaddr *)&from, &length) != 1) return 1;
        if (from.sin_port != at.sin_port) sendto(s, "T", 1, 0, (struct sockaddr *)&from, length);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    at.sin_port = htons((unsigned short)atoi(argv[2]));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (strcmp(argv[1], "ask") == 0) return ask(s, argv[3]);
    pthread_t threads[8];
    door = s;
    limit(door);
    has_own = strcmp(argv[3], "own") == 0;
    if (bind(door, (struct sockaddr *)&at, sizeof at) != 0) return 2;
    for (int i = 4; i < argc; i++) {
        heard[i - 4] = (unsigned)atoi(argv[i]);
        pthread_create(&threads[i - 4], NULL, serve, &heard[i - 4]);
    }
    unsigned sum = 0;
    for (int i = 4; i < argc; i++) {
        pthread_join(threads[i - 4], NULL);
        sum = sum * 31 + heard[i - 4];
    }
    return (int)(sum % 200) + 10;
}
