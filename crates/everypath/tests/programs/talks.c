// Each argument is the script of a thread: pairs of a letter and a digit, which says with which
// socket, event or timer. No thread waits, but those that say so.
// w: write to a connection; r: read from it, and wait; q: read what is there; h: finish writing;
// k: close the writing end; K: close the reading end; f: how much is there; E: the error of
// the writing end;
// p: poll; e: look at an epoll that watches all; x: stop watching one; i, o: add to an event, take;
// c: connect to a listener; a: accept; s: shut the listener down; d, D: send a datagram from
// socket 3, 2;
// g: receive; n: listen to socket 3 only; m: set a timer that is due; t: read it.
// What was seen makes up the exit code.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define COUNT 4

static int writers[COUNT], readers[COUNT], listeners[COUNT], datagrams[COUNT];
static int events[COUNT], timers[COUNT], epoll;
static struct sockaddr_in at_listeners[COUNT], at_datagrams[COUNT];
static unsigned seen[8];
static char **scripts;

static unsigned bytes_or_error(long got, char byte) {
    return got > 0 ? (unsigned)byte : got == 0 ? 5 : errno == EAGAIN ? 6 : 7;
}

static unsigned do_one(char what, int n, int me) {
    char byte = (char)(me + 1);
    uint64_t count = 1;
    int number = 0;
    socklen_t length = sizeof number;
    switch (what) {
    case 'w': return send(writers[n], &byte, 1, MSG_NOSIGNAL) == 1;
    case 'r': return bytes_or_error(recv(readers[n], &byte, 1, 0), byte);
    case 'q': return bytes_or_error(recv(readers[n], &byte, 1, MSG_DONTWAIT), byte);
    case 'h': return (unsigned)shutdown(writers[n], SHUT_WR) + 1;
    case 'k': return (unsigned)close(writers[n]) + 1;
    case 'K': return (unsigned)close(readers[n]) + 1;
    case 'f': ioctl(readers[n], FIONREAD, &number); return (unsigned)number;
    case 'E': getsockopt(writers[n], SOL_SOCKET, SO_ERROR, &number, &length); return number != 0;
    case 'p': {
        struct pollfd watched = {.fd = readers[n], .events = POLLIN | POLLRDHUP};
        poll(&watched, 1, 0);
        return (watched.revents & POLLIN ? 1 : 0) + (watched.revents & POLLRDHUP ? 2 : 0);
    }
    case 'e': {
        struct epoll_event found[COUNT];
        return (unsigned)epoll_wait(epoll, found, COUNT, 0);
    }
    case 'x': return (unsigned)epoll_ctl(epoll, EPOLL_CTL_DEL, readers[n], NULL) + 1;
    case 'i': return write(events[n], &count, 8) == 8;
    case 'o': return read(events[n], &count, 8) == 8 ? (unsigned)count : 6;
    case 'c': {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        return (unsigned)connect(fd, (void *)&at_listeners[n], sizeof at_listeners[n]) + 1;
    }
    case 'a': return accept(listeners[n], NULL, NULL) >= 0 ? 1 : errno == EAGAIN ? 2 : 3;
    case 's': return (unsigned)shutdown(listeners[n], SHUT_RD) + 1;
    case 'd':
        return sendto(datagrams[3], &byte, 1, 0, (void *)&at_datagrams[n], sizeof at_datagrams[n]) == 1;
    case 'D':
        return sendto(datagrams[2], &byte, 1, 0, (void *)&at_datagrams[n], sizeof at_datagrams[n]) == 1;
    case 'g': return bytes_or_error(recv(datagrams[n], &byte, 1, MSG_DONTWAIT), byte);
    case 'n':
        return (unsigned)connect(datagrams[n], (void *)&at_datagrams[3], sizeof at_datagrams[3]) + 1;
    case 'm': {
        struct itimerspec due = {.it_value = {0, 1}};
        return (unsigned)timerfd_settime(timers[n], TFD_TIMER_ABSTIME, &due, NULL) + 1;
    }
    case 't': return read(timers[n], &count, 8) == 8 ? 1 : 6;
    }
    return 0;
}

static void *run(void *argument) {
    long me = (long)argument;
    for (const char *p = scripts[me]; p[0] && p[1]; p += 2)
        seen[me] = seen[me] * 11 + do_one(p[0], p[1] - '0', (int)me);
    return NULL;
}

static int bound(int type, struct sockaddr_in *address) {
    socklen_t length = sizeof *address;
    int fd = socket(AF_INET, type | SOCK_NONBLOCK, 0);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (void *)address, length) != 0) abort();
    getsockname(fd, (void *)address, &length);
    return fd;
}

int main(int argc, char **argv) {
    pthread_t threads[8];
    scripts = argv + 1;
    int count = argc - 1 > 8 ? 8 : argc - 1;
    epoll = epoll_create1(0);
    for (int i = 0; i < COUNT; i++) {
        struct sockaddr_in address = {0};
        int listener = bound(SOCK_STREAM, &address);
        listen(listener, 1);
        writers[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(writers[i], (void *)&address, sizeof address) != 0) abort();
        readers[i] = accept(listener, NULL, NULL);
        close(listener);
        struct epoll_event event = {.events = EPOLLIN};
        epoll_ctl(epoll, EPOLL_CTL_ADD, readers[i], &event);
        listeners[i] = bound(SOCK_STREAM, &at_listeners[i]);
        listen(listeners[i], 4);
        datagrams[i] = bound(SOCK_DGRAM, &at_datagrams[i]);
        events[i] = eventfd(0, EFD_NONBLOCK);
        timers[i] = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    }
    for (long i = 0; i < count; i++) pthread_create(&threads[i], NULL, run, (void *)i);
    unsigned sum = 0;
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        sum = sum * 31 + seen[i];
    }
    return (int)(sum % 251);
}
