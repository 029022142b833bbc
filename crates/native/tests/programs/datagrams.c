// Datagram sockets within one process, on a network that is reliable.
#include "net.h"

static int datagram(int family) { return bound(family, SOCK_DGRAM); }

static void join_to(int fd, int other) {
    struct address address = name_of(other);
    IS(connect(fd, &address.any, address.length), 0);
}

static void unconnected(int family) {
    char text[16];
    int one = datagram(family), other = datagram(family);
    struct address to = name_of(other), from = {.length = sizeof from.storage};
    IS(sendto(one, "hello", 5, 0, &to.any, to.length), 5);
    IS(sendto(one, "", 0, 0, &to.any, to.length), 0);
    IS(sendto(one, "again", 5, 0, &to.any, to.length), 5);
    IS(recvfrom(other, text, sizeof text, 0, &from.any, &from.length), 5);
    SAME(text, "hello");
    CHECK(same(from, name_of(one)));
    IS(recv(other, text, sizeof text, 0), 0);
    IS(read(other, text, sizeof text), 5);
    SAME(text, "again");
    FAILS(recv(other, text, sizeof text, MSG_DONTWAIT), EAGAIN);
    IS(sendto(other, "back", 4, 0, &from.any, from.length), 4);
    IS(recv(one, text, sizeof text, 0), 4);
    FAILS(getpeername(one, &from.any, &from.length), ENOTCONN);
    FAILS(send(one, "x", 1, 0), family == AF_UNIX ? ENOTCONN : EDESTADDRREQ);
    FAILS(listen(one, 1), EOPNOTSUPP);
    FAILS(accept(one, NULL, NULL), EOPNOTSUPP);
    IS(close(one) + close(other), 0);
}

static void connected_ones(int family) {
    char text[16];
    int one = datagram(family), other = datagram(family), stranger = datagram(family);
    join_to(one, other);
    CHECK(same(peer_of(one), name_of(other)));
    IS(send(one, "a", 1, 0), 1);
    IS(write(one, "b", 1), 1);
    IS(read(other, text, 16), 1);
    IS(text[0], 'a');
    IS(read(other, text, 16), 1);
    IS(text[0], 'b');
    // Only its partner can reach it.
    struct address to = name_of(one);
    if (family == AF_UNIX) {
        FAILS(sendto(stranger, "no", 2, 0, &to.any, to.length), EPERM);
    } else {
        IS(sendto(stranger, "no", 2, 0, &to.any, to.length), 2);
    }
    IS(sendto(other, "yes", 3, 0, &to.any, to.length), 3);
    IS(recv(one, text, 16, 0), 3);
    SAME(text, "yes");
    FAILS(recv(one, text, 16, MSG_DONTWAIT), EAGAIN);
    // Another partner, and none at all.
    join_to(one, stranger);
    IS(send(one, "c", 1, 0), 1);
    IS(read(stranger, text, 16), 1);
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    IS(connect(one, &none, sizeof none), 0);
    FAILS(send(one, "x", 1, 0), family == AF_UNIX ? ENOTCONN : EDESTADDRREQ);
    IS(close(one) + close(other) + close(stranger), 0);
}

static void sizes(int family) {
    char text[16] = "", *much = calloc(1, 70000);
    int one = datagram(family), other = datagram(family);
    join_to(one, other);
    for (int i = 0; i < 4; i++) IS(send(one, "truncated", 9, 0), 9);
    IS(recv(other, text, 3, MSG_PEEK), 3);
    SAME(text, "tru");
    IS(recv(other, text, 3, MSG_PEEK | MSG_TRUNC), 9);
    IS(recv(other, text, 3, 0), 3);
    IS(recv(other, text, 3, MSG_TRUNC), 9);
    struct iovec parts[2] = {{text, 2}, {text + 8, 3}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    IS(recvmsg(other, &message, 0), 5);
    IS(message.msg_flags, MSG_TRUNC);
    SAME(text, "tr");
    SAME(text + 8, "unc");
    parts[1].iov_len = 8;
    IS(recvmsg(other, &message, 0), 9);
    IS(message.msg_flags, 0);
    int waiting = -1;
    IS(send(one, "12345", 5, 0), 5);
    IS(send(one, "123", 3, 0), 3);
    CHECK(await(other, POLLIN) & POLLIN);
    IS(ioctl(other, FIONREAD, &waiting), 0);
    IS(waiting, 5);
    IS(recv(other, much, 70000, 0), 5);
    IS(recv(other, much, 70000, 0), 3);
    if (family == AF_INET) {
        FAILS(send(one, much, 65508, 0), EMSGSIZE);
        IS(send(one, much, 65507, 0), 65507);
        IS(recv(other, much, 70000, 0), 65507);
    }
    free(much);
    IS(close(one) + close(other), 0);
}

static void many_at_once(int family) {
    int one = datagram(family), other = datagram(family);
    struct address to = name_of(other), from[4];
    char *words[] = {"one", "two", "three"}, bytes[4][8] = {""};
    struct iovec parts[4];
    struct mmsghdr messages[4] = {0};
    for (int i = 0; i < 3; i++) {
        parts[i] = (struct iovec){words[i], strlen(words[i])};
        messages[i].msg_hdr = (struct msghdr){
            .msg_name = &to.any, .msg_namelen = to.length, .msg_iov = &parts[i], .msg_iovlen = 1};
    }
    IS(sendmmsg(one, messages, 3, 0), 3);
    CHECK(messages[0].msg_len == 3 && messages[2].msg_len == 5);
    for (int i = 0; i < 4; i++) {
        parts[i] = (struct iovec){bytes[i], 4};
        messages[i].msg_hdr = (struct msghdr){
            .msg_name = &from[i].any,
            .msg_namelen = sizeof from[i].storage,
            .msg_iov = &parts[i],
            .msg_iovlen = 1,
        };
    }
    IS(recvmmsg(other, messages, 2, 0, NULL), 2);
    SAME(bytes[0], "one");
    SAME(bytes[1], "two");
    CHECK(messages[1].msg_len == 3 && messages[1].msg_hdr.msg_flags == 0);
    from[1].length = messages[1].msg_hdr.msg_namelen;
    CHECK(same(from[1], name_of(one)));
    IS(recvmmsg(other, messages, 4, MSG_DONTWAIT, NULL), 1);
    SAME(bytes[0], "thre");
    CHECK(messages[0].msg_len == 4 && messages[0].msg_hdr.msg_flags == MSG_TRUNC);
    FAILS(recvmmsg(other, messages, 4, MSG_DONTWAIT, NULL), EAGAIN);
    IS(close(one) + close(other), 0);
}

static void refusals(int family) {
    char byte;
    int one = datagram(family), other = datagram(family);
    join_to(one, other);
    struct address gone = name_of(other);
    IS(close(other), 0);
    IS(send(one, "x", 1, 0), 1);
    CHECK(await(one, POLLIN) & POLLERR);
    FAILS(recv(one, &byte, 1, 0), ECONNREFUSED);
    FAILS(recv(one, &byte, 1, MSG_DONTWAIT), EAGAIN);
    IS(send(one, "x", 1, 0), 1);
    CHECK(await(one, POLLIN) & POLLERR);
    FAILS(send(one, "x", 1, 0), ECONNREFUSED);
    IS(send(one, "x", 1, 0), 1);
    CHECK(await(one, POLLIN) & POLLERR);
    IS(number_option(one, SOL_SOCKET, SO_ERROR), ECONNREFUSED);
    IS(number_option(one, SOL_SOCKET, SO_ERROR), 0);
    IS(close(one), 0);
    // Those that are not connected are not told.
    one = datagram(family);
    IS(sendto(one, "x", 1, 0, &gone.any, gone.length), 1);
    IS(sendto(one, "x", 1, 0, &gone.any, gone.length), 1);
    FAILS(recv(one, &byte, 1, MSG_DONTWAIT), EAGAIN);
    IS(close(one), 0);
}

static void names(int family) {
    char byte;
    int other = datagram(family), one = socket(family, SOCK_DGRAM, 0);
    struct address to = name_of(other), from = {.length = sizeof from.storage};
    IS(number_option(one, SOL_SOCKET, SO_TYPE), SOCK_DGRAM);
    IS(number_option(one, SOL_SOCKET, SO_PROTOCOL), IPPROTO_UDP);
    CHECK(name_of(one).v4.sin_port == 0);
    // Sending binds.
    IS(sendto(one, "x", 1, 0, &to.any, to.length), 1);
    CHECK(name_of(one).v4.sin_port != 0);
    IS(recvfrom(other, &byte, 1, 0, &from.any, &from.length), 1);
    IS(from.v4.sin_port, name_of(one).v4.sin_port);
    int third = socket(family, SOCK_DGRAM, 0);
    FAILS(bind(third, &to.any, to.length), EADDRINUSE);
    // A name that is too long for the buffer is cut, and its true length told.
    IS(sendto(one, "x", 1, 0, &to.any, to.length), 1);
    from.length = 2;
    IS(recvfrom(other, &byte, 1, 0, &from.any, &from.length), 1);
    IS(from.length, to.length);
    // Connecting chooses the own address.
    IS(connect(third, &to.any, to.length), 0);
    CHECK(name_of(third).v4.sin_port != 0);
    if (family == AF_INET) IS(name_of(third).v4.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    IS(close(one) + close(other) + close(third), 0);
}

static void local_names(void) {
    int one = datagram(AF_UNIX), other = datagram(AF_UNIX);
    struct address gone = name_of(other), from = {.length = sizeof from.storage};
    join_to(one, other);
    IS(close(other), 0);
    FAILS(send(one, "x", 1, 0), ECONNREFUSED);
    FAILS(sendto(one, "x", 1, 0, &gone.any, gone.length), ECONNREFUSED);
    // A sender without a name.
    char byte;
    int nameless = socket(AF_UNIX, SOCK_DGRAM, 0);
    other = datagram(AF_UNIX);
    join_to(nameless, other);
    IS(write(nameless, "x", 1), 1);
    IS(recvfrom(other, &byte, 1, 0, &from.any, &from.length), 1);
    IS(from.length, 0);
    IS(close(one) + close(other) + close(nameless), 0);
}

static void *sends(void *argument) {
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct address *to = argument;
    IS(sendto(fd, "x", 1, 0, &to->any, to->length), 1);
    IS(close(fd), 0);
    return NULL;
}

static void waiting(void) {
    char byte;
    int one = datagram(AF_INET), other = datagram(AF_INET);
    struct address to[2] = {name_of(one), name_of(other)};
    set_timeout(one, 20);
    long long before = now_on(CLOCK_MONOTONIC);
    FAILS(recv(one, &byte, 1, 0), EAGAIN);
    CHECK(now_on(CLOCK_MONOTONIC) - before >= 19000000LL);
    set_timeout(one, 0);
    pthread_t sender = start(sends, &to[0]);
    IS(recv(one, &byte, 1, 0), 1);
    join(sender);
    // Two sockets at once.
    pthread_t senders[2] = {start(sends, &to[0]), start(sends, &to[1])};
    struct pollfd watched[2] = {{.fd = one, .events = POLLIN}, {.fd = other, .events = POLLIN}};
    for (int missing = 2; missing > 0;) {
        CHECK(poll(watched, 2, -1) > 0);
        for (int i = 0; i < 2; i++) {
            if (!watched[i].revents) continue;
            IS(recv(watched[i].fd, &byte, 1, MSG_DONTWAIT), 1);
            watched[i].fd = -1;
            missing -= 1;
        }
    }
    join(senders[0]);
    join(senders[1]);
    IS(close(one) + close(other), 0);
}

int main(void) {
    static const int families[] = {AF_INET, AF_INET6, AF_UNIX};
    for (int i = 0; i < 3; i++) {
        unconnected(families[i]);
        connected_ones(families[i]);
        printf("partners %d\n", i);
        sizes(families[i]);
        many_at_once(families[i]);
        printf("sizes %d\n", i);
    }
    refusals(AF_INET);
    refusals(AF_INET6);
    puts("refusals");
    names(AF_INET);
    names(AF_INET6);
    local_names();
    puts("names");
    waiting();
    puts("waiting");
    return 0;
}
