// What the conformance programs about sockets share: addresses on loopback and connected pairs.
#ifndef NET_H
#define NET_H
#include "check.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>

// A wait for something that must happen: under control, a shorter one may be over at any time.
#define LONG -1

#define SAME(bytes, text) IS(memcmp(bytes, text, strlen(text)), 0)

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
        struct sockaddr_storage storage;
    };
    socklen_t length;
};

// An address on loopback with any port, or an abstract name for Unix sockets.
static inline struct address loopback(int family) {
    struct address address = {.storage = {.ss_family = family}};
    if (family == AF_INET) {
        address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.length = sizeof address.v4;
    } else if (family == AF_INET6) {
        address.v6.sin6_addr = in6addr_loopback;
        address.length = sizeof address.v6;
    } else {
        // Nothing but the family: the system chooses an abstract name.
        address.length = sizeof(sa_family_t);
    }
    return address;
}

static inline struct address name_of(int fd) {
    struct address address = {.length = sizeof address.storage};
    IS(getsockname(fd, &address.any, &address.length), 0);
    return address;
}

static inline struct address peer_of(int fd) {
    struct address address = {.length = sizeof address.storage};
    IS(getpeername(fd, &address.any, &address.length), 0);
    return address;
}

static inline int same(struct address one, struct address other) {
    return one.length == other.length && memcmp(&one.any, &other.any, one.length) == 0;
}

// A socket that is bound to a fresh address.
static inline int bound(int family, int type) {
    struct address address = loopback(family);
    int fd = socket(family, type, 0);
    CHECK(fd >= 0);
    IS(bind(fd, &address.any, address.length), 0);
    return fd;
}

static inline int listening(int family) {
    int fd = bound(family, SOCK_STREAM);
    IS(listen(fd, 16), 0);
    return fd;
}

static inline int connecting(int listener) {
    struct address address = name_of(listener);
    int fd = socket(address.any.sa_family, SOCK_STREAM, 0);
    CHECK(fd >= 0);
    IS(connect(fd, &address.any, address.length), 0);
    return fd;
}

// Two ends of one connection: who connected and who accepted.
struct pair {
    int client, server;
};

static inline struct pair connected(int family) {
    int listener = listening(family);
    struct pair pair = {.client = connecting(listener)};
    pair.server = accept(listener, NULL, NULL);
    CHECK(pair.server >= 0);
    IS(close(listener), 0);
    return pair;
}

static inline void close_both(struct pair pair) {
    IS(close(pair.client), 0);
    IS(close(pair.server), 0);
}

// Waits for something to happen on a descriptor and returns what did.
static inline int await(int fd, int events) {
    struct pollfd waiting = {.fd = fd, .events = events};
    IS(poll(&waiting, 1, LONG), 1);
    return waiting.revents;
}

static inline int number_option(int fd, int level, int name) {
    int value = -1;
    socklen_t length = sizeof value;
    IS(getsockopt(fd, level, name, &value, &length), 0);
    IS(length, sizeof value);
    return value;
}

static inline void set_number(int fd, int level, int name, int value) {
    IS(setsockopt(fd, level, name, &value, sizeof value), 0);
}

static inline void set_timeout(int fd, int milliseconds) {
    struct timeval time = {milliseconds / 1000, milliseconds % 1000 * 1000};
    IS(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time), 0);
}

static inline void set_nonblocking(int fd) {
    int flags = fcntl(fd, F_GETFL);
    CHECK(flags >= 0);
    IS(fcntl(fd, F_SETFL, flags | O_NONBLOCK), 0);
}
#endif
