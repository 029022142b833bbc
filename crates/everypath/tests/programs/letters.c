// Each argument is the script of a thread, a letter for each call. There are two sockets; a capital
// is about the first, a small letter about the second.
// S: send the next letter to it; R: receive and wait, at the second socket only for some time; N:
// receive if there is something; K: look at what is there; P: ask whether there is something; B: ask
// that of both and wait for some time; X: exchange a word and remember what was there.
// What was seen makes up the exit code.
//
// `serve PORT` is a server whose answers tell what it heard up to then, and `@PORT` as the first
// argument connects both sockets to one: then S sends from a socket.
#include <arpa/inet.h>
#include <ctype.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int sockets[2], out, has_server;
static struct sockaddr_in addresses[2];
static atomic_int words[2];
static unsigned seen[8];
static char **scripts;

static void see(long me, int letter, long count) {
    seen[me] = seen[me] * 7 + (unsigned)(count + 2);
    if (count == 1) seen[me] = seen[me] * 5 + (unsigned)letter;
}

static void *run(void *argument) {
    long me = (long)argument;
    int sent = 0;
    for (const char *p = scripts[me]; *p; p++) {
        int which = islower(*p) ? 1 : 0, from = sockets[which];
        struct pollfd look[2] = {{.fd = sockets[which], .events = POLLIN},
                                 {.fd = sockets[!which], .events = POLLIN}};
        char letter = (char)(me * 4 + sent);
        switch (toupper(*p)) {
        case 'S':
            sent++;
            if (has_server) {
                see(me, 0, send(from, &letter, 1, 0));
                break;
            }
            see(me, 0, sendto(out, &letter, 1, 0, (struct sockaddr *)&addresses[which],
                              sizeof addresses[which]));
            break;
        case 'R': see(me, letter, recv(from, &letter, 1, 0)); break;
        case 'N': see(me, letter, recv(from, &letter, 1, MSG_DONTWAIT)); break;
        case 'K': see(me, letter, recv(from, &letter, 1, MSG_PEEK)); break;
        case 'P': see(me, 0, poll(look, 1, 0)); break;
        case 'B': see(me, 0, poll(look, 2, 1000)); break;
        case 'X': seen[me] = seen[me] * 5 + (unsigned)atomic_exchange(&words[which], (int)me + 1);
        }
    }
    return NULL;
}

static struct sockaddr_in at_port(const char *port) {
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((unsigned short)atoi(port)),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

// Answers once, to every third letter twice, and never to some.
static void serve(const char *port) {
    static unsigned char heard[65536];
    struct sockaddr_in here = at_port(port), from;
    int door = socket(AF_INET, SOCK_DGRAM, 0);
    bind(door, (struct sockaddr *)&here, sizeof here);
    for (;;) {
        socklen_t length = sizeof from;
        unsigned char letter;
        recvfrom(door, &letter, 1, 0, (struct sockaddr *)&from, &length);
        unsigned char *all = &heard[from.sin_port];
        *all = (unsigned char)(*all * 3 + letter + 1);
        int answers = letter % 3 == 2 ? 2 : letter % 4 != 3;
        for (int i = 0; i < answers; i++) {
            unsigned char answer = (unsigned char)(*all + i);
            sendto(door, &answer, 1, 0, (struct sockaddr *)&from, length);
        }
    }
}

int main(int argc, char **argv) {
    pthread_t threads[8];
    if (argc > 2 && strcmp(argv[1], "serve") == 0) serve(argv[2]);
    has_server = argc > 1 && argv[1][0] == '@';
    scripts = argv + 1 + has_server;
    int count = argc - 1 - has_server;
    if (count > 8) count = 8;
    out = socket(AF_INET, SOCK_DGRAM, 0);
    for (int i = 0; i < 2; i++) {
        socklen_t length = sizeof addresses[i];
        addresses[i].sin_family = AF_INET;
        addresses[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        sockets[i] = socket(AF_INET, SOCK_DGRAM, 0);
        bind(sockets[i], (struct sockaddr *)&addresses[i], length);
        getsockname(sockets[i], (struct sockaddr *)&addresses[i], &length);
        struct sockaddr_in server = has_server ? at_port(argv[1] + 1) : addresses[i];
        if (has_server) connect(sockets[i], (struct sockaddr *)&server, length);
    }
    struct timeval patience = {.tv_sec = 1};
    setsockopt(sockets[1], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    for (long i = 0; i < count; i++) pthread_create(&threads[i], NULL, run, (void *)i);
    unsigned sum = 0;
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        sum = sum * 31 + seen[i];
    }
    return (int)(sum % 251);
}
