// Several sockets at once, of both kinds, and what is rarely asked of those for datagrams.
#include "net.h"
#include <sys/epoll.h>
#include <sys/select.h>

enum { DATAGRAMS = 2, ALL };

// Two sockets for datagrams and a connection.
struct several {
    int receives[ALL], sends[ALL];
};

static struct several made(void) {
    struct several made;
    for (int i = 0; i < DATAGRAMS; i++) {
        made.receives[i] = bound(AF_INET, SOCK_DGRAM);
        made.sends[i] = bound(AF_INET, SOCK_DGRAM);
        struct address to = name_of(made.receives[i]);
        IS(connect(made.sends[i], &to.any, to.length), 0);
    }
    struct pair pair = connected(AF_INET);
    made.receives[DATAGRAMS] = pair.server;
    made.sends[DATAGRAMS] = pair.client;
    return made;
}

static void closed(struct several made) {
    for (int i = 0; i < ALL; i++) IS(close(made.receives[i]) + close(made.sends[i]), 0);
}

// Which of them are ready, as bits.
static int by_poll(struct several of) {
    struct pollfd watched[ALL];
    for (int i = 0; i < ALL; i++) watched[i] = (struct pollfd){of.receives[i], POLLIN, 0};
    CHECK(poll(watched, ALL, LONG) > 0);
    int ready = 0;
    for (int i = 0; i < ALL; i++) ready |= (watched[i].revents == POLLIN) << i;
    return ready;
}

static int by_select(struct several of) {
    fd_set set;
    FD_ZERO(&set);
    int last = 0;
    for (int i = 0; i < ALL; i++) {
        FD_SET(of.receives[i], &set);
        if (of.receives[i] > last) last = of.receives[i];
    }
    CHECK(select(last + 1, &set, NULL, NULL, NULL) > 0);
    int ready = 0;
    for (int i = 0; i < ALL; i++) ready |= !!FD_ISSET(of.receives[i], &set) << i;
    return ready;
}

static int by_epoll(struct several of) {
    int queue = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN}, found[ALL];
    for (int i = 0; i < ALL; i++) {
        event.data.u32 = i;
        IS(epoll_ctl(queue, EPOLL_CTL_ADD, of.receives[i], &event), 0);
    }
    int count = epoll_wait(queue, found, ALL, LONG), ready = 0;
    CHECK(count > 0);
    for (int i = 0; i < count; i++) ready |= 1 << found[i].data.u32;
    IS(close(queue), 0);
    return ready;
}

static void ready(int (*which)(struct several)) {
    char byte;
    struct several of = made();
    for (int only = 0; only < ALL; only++) {
        IS(send(of.sends[only], "x", 1, 0), 1);
        IS(which(of), 1 << only);
        // What is looked at stays there.
        IS(recv(of.receives[only], &byte, 1, MSG_PEEK), 1);
        IS(which(of), 1 << only);
        IS(recv(of.receives[only], &byte, 1, MSG_DONTWAIT), 1);
        FAILS(recv(of.receives[only], &byte, 1, MSG_DONTWAIT), EAGAIN);
    }
    // An empty message is one, an end of a stream is not, and both are read as nothing.
    IS(send(of.sends[0], "", 0, 0), 0);
    IS(shutdown(of.sends[DATAGRAMS], SHUT_WR), 0);
    CHECK(await(of.receives[DATAGRAMS], POLLIN) & POLLIN);
    CHECK(which(of) == ((1 << DATAGRAMS) | 1));
    IS(recv(of.receives[0], &byte, 1, 0), 0);
    FAILS(recv(of.receives[0], &byte, 1, MSG_DONTWAIT), EAGAIN);
    IS(recv(of.receives[DATAGRAMS], &byte, 1, 0), 0);
    IS(recv(of.receives[DATAGRAMS], &byte, 1, 0), 0);
    closed(of);
}

// The size over a connection, the data in messages, as the file servers of the papers do it.
static void *serves(void *argument) {
    int listener = *(int *)argument;
    int client = accept(listener, NULL, NULL);
    int data = bound(AF_INET, SOCK_DGRAM);
    struct address to;
    CHECK(client >= 0);
    IS(recv(client, &to, sizeof to, MSG_WAITALL), sizeof to);
    for (int i = 0; i < 3; i++) IS(sendto(data, "part", 4, 0, &to.any, to.length), 4);
    IS(send(client, "3", 1, 0), 1);
    IS(close(client) + close(data), 0);
    return NULL;
}

static void both_kinds(void) {
    char text[8];
    int listener = listening(AF_INET), data = bound(AF_INET, SOCK_DGRAM);
    struct address own = name_of(data);
    pthread_t server = start(serves, &listener);
    int control = connecting(listener);
    IS(send(control, &own, sizeof own, 0), sizeof own);
    IS(recv(control, text, 1, 0), 1);
    for (int missing = text[0] - '0'; missing > 0; missing--) {
        IS(recv(data, text, sizeof text, 0), 4);
        SAME(text, "part");
    }
    FAILS(recv(data, text, sizeof text, MSG_DONTWAIT), EAGAIN);
    join(server);
    // Ports of the two kinds are apart.
    struct address same = name_of(listener);
    int other = socket(AF_INET, SOCK_DGRAM, 0);
    IS(bind(other, &same.any, same.length), 0);
    IS(close(listener) + close(data) + close(control) + close(other), 0);
}

static void several_with_time_out(void) {
    char bytes[3][8];
    int one = bound(AF_INET, SOCK_DGRAM), other = bound(AF_INET, SOCK_DGRAM);
    struct address to = name_of(other);
    struct iovec parts[3];
    struct mmsghdr messages[3] = {0};
    for (int i = 0; i < 3; i++) {
        parts[i] = (struct iovec){bytes[i], 8};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
    }
    // What is there is taken, whatever the time-out says.
    struct timespec patience = {10, 0};
    for (int i = 0; i < 3; i++) IS(sendto(one, "abc", i + 1, 0, &to.any, to.length), i + 1);
    IS(recvmmsg(other, messages, 3, 0, &patience), 3);
    for (int i = 0; i < 3; i++) IS(messages[i].msg_len, i + 1);
    CHECK(patience.tv_sec >= 0 && patience.tv_sec <= 10);
    // With this flag, only the first one is waited for.
    IS(sendto(one, "abc", 3, 0, &to.any, to.length), 3);
    IS(recvmmsg(other, messages, 3, MSG_WAITFORONE, NULL), 1);
    // The time-out is looked at only when a message has come; that of the socket ends the wait.
    set_timeout(other, 20);
    FAILS(recvmmsg(other, messages, 3, 0, NULL), EAGAIN);
    IS(sendto(one, "abc", 3, 0, &to.any, to.length), 3);
    patience = (struct timespec){0, 0};
    IS(recvmmsg(other, messages, 3, 0, &patience), 1);
    patience = (struct timespec){0, -1};
    FAILS(recvmmsg(other, messages, 3, 0, &patience), EINVAL);
    // Sending stops at what cannot be sent.
    parts[0] = (struct iovec){bytes[0], 8};
    messages[0].msg_hdr.msg_name = &to.any;
    messages[0].msg_hdr.msg_namelen = to.length;
    messages[1].msg_hdr.msg_name = NULL;
    IS(sendmmsg(one, messages, 3, 0), 1);
    IS(recv(other, bytes[1], 8, 0), 8);
    FAILS(sendmmsg(one, messages + 1, 2, 0), EDESTADDRREQ);
    IS(close(one) + close(other), 0);
}

// Errors of one partner do not reach those that talk to others.
static void unreachable(void) {
    char byte;
    int gone = bound(AF_INET, SOCK_DGRAM), there = bound(AF_INET, SOCK_DGRAM);
    int one = bound(AF_INET, SOCK_DGRAM), other = bound(AF_INET, SOCK_DGRAM);
    struct address to_gone = name_of(gone), to_there = name_of(there);
    IS(connect(one, &to_gone.any, to_gone.length), 0);
    IS(connect(other, &to_there.any, to_there.length), 0);
    IS(close(gone), 0);
    IS(send(one, "x", 1, 0), 1);
    IS(send(other, "y", 1, 0), 1);
    IS(recv(there, &byte, 1, 0), 1);
    struct pollfd watched[2] = {{.fd = one, .events = POLLIN}, {.fd = other, .events = POLLIN}};
    IS(poll(watched, 2, LONG), 1);
    CHECK(watched[0].revents & POLLERR);
    IS(watched[1].revents, 0);
    FAILS(write(one, "x", 1), ECONNREFUSED);
    FAILS(recv(one, &byte, 1, MSG_DONTWAIT), EAGAIN);
    // Somebody comes back to the port.
    gone = socket(AF_INET, SOCK_DGRAM, 0);
    IS(bind(gone, &to_gone.any, to_gone.length), 0);
    IS(send(one, "z", 1, 0), 1);
    IS(recv(gone, &byte, 1, 0), 1);
    IS(byte, 'z');
    IS(close(gone) + close(there) + close(one) + close(other), 0);
}

static void shut(void) {
    char byte;
    int one = bound(AF_INET, SOCK_DGRAM), other = bound(AF_INET, SOCK_DGRAM);
    struct address to = name_of(other);
    FAILS(shutdown(one, SHUT_RD), ENOTCONN);
    IS(connect(one, &to.any, to.length), 0);
    IS(shutdown(one, SHUT_WR), 0);
    signal(SIGPIPE, SIG_IGN);
    FAILS(send(one, "x", 1, 0), EPIPE);
    IS(shutdown(one, SHUT_RD), 0);
    IS(recv(one, &byte, 1, 0), 0);
    IS(close(one) + close(other), 0);
}

int main(void) {
    ready(by_poll);
    ready(by_select);
    ready(by_epoll);
    puts("several at once");
    both_kinds();
    puts("both kinds");
    several_with_time_out();
    puts("time-outs");
    unreachable();
    puts("unreachable");
    shut();
    puts("shut");
    return 0;
}
