// Each argument is the script of a thread: pairs of a letter and a digit. The digit is an event (0), a
// socket (1), the end of a pipe (2), a listener (3) or an epoll (4). A, D: watch it, or not any more;
// W: look what of it is ready; P: look at it; V, v: make the event happen, and take it; S, R: send to
// the socket, and receive; Q: ask how much is there; H: send no more; C: close it; T: set a timer to so
// much; t: ask for it; k, a: connect to the listener, and accept; E: ask for an error; N: for a name; u, U:
// send and receive a datagram; c: hear datagrams of another one only; O: open it anew, as the socket for
// datagrams; L: select it.
// What was found makes up the exit code.
#define _GNU_SOURCE
#include "script.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int watched[5], far[2], timer, post[2];
static struct sockaddr_in home, other;

static int looks(int descriptor) {
    struct pollfd entry = {descriptor, POLLIN, 0};
    poll(&entry, 1, 0);
    if (entry.revents & POLLNVAL) return 2;
    return entry.revents & POLLHUP ? 3 : entry.revents != 0;
}

static int selects(int descriptor) {
    fd_set set;
    struct timeval none = {0, 0};
    FD_ZERO(&set);
    FD_SET(descriptor, &set);
    return 1 + select(descriptor + 1, &set, NULL, NULL, &none);
}

static int uses(char how, int number) {
    uint64_t one = 1;
    char byte;
    int value;
    socklen_t length = sizeof value;
    struct epoll_event event = {.events = EPOLLIN};
    struct sockaddr_in name;
    struct itimerspec time = {{0, 0}, {0, number * 1000000}};
    switch (how) {
    case 'A': return epoll_ctl(watched[4], EPOLL_CTL_ADD, watched[number], &event) == 0;
    case 'D': return epoll_ctl(watched[4], EPOLL_CTL_DEL, watched[number], NULL) == 0;
    case 'W': return epoll_wait(watched[4], &event, 1, 0) == 1;
    case 'P': return looks(watched[number]);
    case 'V': return write(watched[0], &one, 8) == 8;
    case 'v': return read(watched[0], &one, 8) == 8;
    case 'S': return send(far[1], "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
    case 'R': return recv(watched[1], &byte, 1, MSG_DONTWAIT) == 1;
    case 'Q': return ioctl(watched[1], FIONREAD, &value) == 0 ? 1 + value : 0;
    case 'H': return shutdown(far[1], SHUT_WR) == 0;
    case 'C': return close(number == 2 ? far[0] : watched[number]) == 0;
    case 'T': return timerfd_settime(timer, 0, &time, NULL) == 0;
    case 't': return timerfd_gettime(timer, &time) == 0 ? 1 + (time.it_value.tv_nsec > 0) : 0;
    case 'k': {
        int client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        return connect(client, (struct sockaddr *)&home, sizeof home) == 0 ? 1 : 2;
    }
    case 'a': return accept4(watched[3], NULL, NULL, SOCK_NONBLOCK) >= 0;
    case 'E': return getsockopt(watched[1], SOL_SOCKET, SO_ERROR, &value, &length) == 0;
    case 'u': return sendto(post[1], "x", 1, 0, (struct sockaddr *)&home, sizeof home) == 1;
    case 'U': return recv(post[0], &byte, 1, MSG_DONTWAIT) == 1;
    case 'c': return connect(post[0], (struct sockaddr *)&other, sizeof other) == 0;
    case 'O': return dup2(post[0], watched[number]) == watched[number];
    case 'L': return selects(watched[number]);
    case 'N':
        length = sizeof name;
        return getsockname(watched[3], (struct sockaddr *)&name, &length) == 0;
    }
    return 0;
}

int main(int argc, char **argv) {
    int ends[2];
    watched[0] = eventfd(0, EFD_NONBLOCK);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 250;
    watched[1] = ends[0];
    far[1] = ends[1];
    if (pipe(ends) != 0) return 250;
    watched[2] = ends[0];
    far[0] = ends[1];
    watched[3] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    home.sin_family = AF_INET;
    home.sin_port = htons(7000);
    home.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(watched[3], (struct sockaddr *)&home, sizeof home) != 0) return 250;
    if (listen(watched[3], 1) != 0) return 250;
    other = home;
    other.sin_port = htons(7001);
    for (int i = 0; i < 2; i++) post[i] = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(post[0], (struct sockaddr *)&home, sizeof home) != 0) return 250;
    watched[4] = epoll_create1(0);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    return (int)(play(argc, argv) % 251);
}
