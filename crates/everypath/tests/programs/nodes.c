// A process of a system. Its first argument is its number; every other is the script of a thread:
// pairs of a letter and a digit.
// L: listen at port; A: accept a connection there; C: connect to port; w, r: write and read a byte;
// t: read a byte within a second; p: look whether there is one; h: send no more; x: close;
// B: bind a datagram socket to port; S: send the number to port; R: receive; l, u: lock and unlock.
// What was seen makes up the exit code.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { STREAMS = 7000, DATAGRAMS = 7100 };
static int number, listeners[10], connections[10], datagrams[10];
static pthread_mutex_t mutexes[10];
static unsigned seen[8];
static char **scripts;

static struct sockaddr_in at(int port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
}

static int bound(int type, int port) {
    int made = socket(AF_INET, type, 0);
    struct sockaddr_in address = at(port);
    if (bind(made, (struct sockaddr *)&address, sizeof address) != 0) _exit(200);
    return made;
}

static unsigned byte_of(int from) {
    char byte = 0;
    ssize_t got = read(from, &byte, 1);
    return got < 0 ? 1 : got == 0 ? 2 : 3 + (unsigned)byte;
}

static void step(long me, char letter, int n) {
    struct sockaddr_in to = at(STREAMS + n), there = at(DATAGRAMS + n);
    struct timeval second = {.tv_sec = 1}, forever = {0};
    struct pollfd watched = {.fd = connections[n], .events = POLLIN};
    unsigned found = 0;
    switch (letter) {
    case 'L':
        listeners[n] = bound(SOCK_STREAM, STREAMS + n);
        listen(listeners[n], 4);
        return;
    case 'A': connections[n] = accept(listeners[n], NULL, NULL); return;
    case 'C':
        connections[n] = socket(AF_INET, SOCK_STREAM, 0);
        found = connect(connections[n], (struct sockaddr *)&to, sizeof to) == 0;
        break;
    case 'w': {
        char byte = (char)number;
        found = send(connections[n], &byte, 1, MSG_NOSIGNAL) == 1;
        break;
    }
    case 'r': found = byte_of(connections[n]); break;
    case 't':
        setsockopt(connections[n], SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
        found = byte_of(connections[n]);
        setsockopt(connections[n], SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof forever);
        break;
    case 'p': found = poll(&watched, 1, 0) == 1 ? (unsigned)watched.revents : 0; break;
    case 'h': shutdown(connections[n], SHUT_WR); return;
    case 'x': close(connections[n]); return;
    case 'B': datagrams[n] = bound(SOCK_DGRAM, DATAGRAMS + n); return;
    case 'S': {
        char byte = (char)number;
        int from = socket(AF_INET, SOCK_DGRAM, 0);
        found = sendto(from, &byte, 1, 0, (struct sockaddr *)&there, sizeof there) == 1;
        close(from);
        break;
    }
    case 'R': found = byte_of(datagrams[n]); break;
    case 'l': pthread_mutex_lock(&mutexes[n]); return;
    case 'u': pthread_mutex_unlock(&mutexes[n]); return;
    }
    seen[me] = seen[me] * 17 + found;
}

static void *run(void *argument) {
    long me = (long)argument;
    for (const char *p = scripts[me]; p[0] && p[1]; p += 2) step(me, p[0], p[1] - '0');
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[8];
    number = atoi(argv[1]);
    scripts = argv + 2;
    int count = argc - 2 > 8 ? 8 : argc - 2;
    unsigned sum = 0;
    if (count == 1) run(NULL);
    else
        for (long i = 0; i < count; i++) pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < count; i++) {
        if (count > 1) pthread_join(threads[i], NULL);
        sum = sum * 31 + seen[i];
    }
    return (int)(sum % 199);
}
