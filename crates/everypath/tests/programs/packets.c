/* Sends packets to itself and prints what arrives: packets N [recv|poll|epoll|select|never|switch].
   `never` closes the socket without looking; with `switch` the network is unreliable only for what
   is sent after the first packet was received. */
#define _GNU_SOURCE
#include "../../../verify/include/everypath.h"
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

static int made(void) {
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    assert(bind(s, (struct sockaddr *)&at, sizeof at) == 0);
    assert(getsockname(s, (struct sockaddr *)&at, &length) == 0);
    assert(connect(s, (struct sockaddr *)&at, sizeof at) == 0);
    struct timeval patience = {.tv_sec = 1};
    assert(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
    return s;
}

static int is_ready(int s, char how) {
    if (how == 'p') {
        struct pollfd entry = {.fd = s, .events = POLLIN};
        return poll(&entry, 1, 1000) == 1;
    }
    if (how == 's') {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(s, &set);
        struct timeval patience = {.tv_sec = 1};
        return select(s + 1, &set, NULL, NULL, &patience) == 1;
    }
    if (how == 'e') {
        int e = epoll_create1(0);
        struct epoll_event event = {.events = EPOLLIN};
        assert(epoll_ctl(e, EPOLL_CTL_ADD, s, &event) == 0);
        int ready = epoll_wait(e, &event, 1, 1000);
        close(e);
        return ready == 1;
    }
    return 1;
}

int main(int count, char **words) {
    int packets = atoi(words[1]);
    char how = count > 2 ? words[2][0] : 'r', packet;
    int s = made(), first = 0;
    if (how == 's' && words[2][1] == 'w') {
        everypath_unreliable(0);
        assert(send(s, "0", 1, 0) == 1 && recv(s, &packet, 1, 0) == 1 && packet == '0');
        everypath_unreliable(1);
        how = 'r';
    }
    for (int i = first; i < packets; i++) {
        packet = '0' + i;
        assert(send(s, &packet, 1, 0) == 1);
    }
    while (how != 'n' && is_ready(s, how)) {
        char again;
        if (how != 'r') assert(recv(s, &again, 1, MSG_PEEK | MSG_DONTWAIT) == 1);
        ssize_t got = recv(s, &packet, 1, how == 'r' ? 0 : MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN && how == 'r') break;
        assert(got == 1 && (how == 'r' || again == packet));
        putchar(packet);
    }
    close(s);
    putchar('\n');
    return 0;
}
