// Stream sockets within one process: connections, their ends and their options.
#include "net.h"

static const int families[] = {AF_INET, AF_INET6, AF_UNIX};

static void connections(int family) {
    char text[16];
    int listener = listening(family);
    IS(number_option(listener, SOL_SOCKET, SO_ACCEPTCONN), 1);
    struct address name = name_of(listener), from = {.length = sizeof from.storage};
    int client = connecting(listener);
    int server = accept(listener, &from.any, &from.length);
    CHECK(server > client && client > listener);
    IS(number_option(server, SOL_SOCKET, SO_ACCEPTCONN), 0);
    CHECK(same(name_of(server), name) && same(peer_of(client), name));
    if (family != AF_UNIX) CHECK(same(from, name_of(client)) && same(from, peer_of(server)));
    IS(write(client, "hello", 5), 5);
    IS(read(server, text, 2), 2);
    SAME(text, "he");
    IS(read(server, text, sizeof text), 3);
    SAME(text, "llo");
    IS(send(server, "a", 1, 0), 1);
    IS(send(server, "b", 1, MSG_NOSIGNAL), 1);
    IS(recv(client, text, 2, MSG_WAITALL), 2);
    SAME(text, "ab");
    struct stat status;
    IS(fstat(client, &status), 0);
    CHECK(S_ISSOCK(status.st_mode));
    FAILS(lseek(client, 0, SEEK_SET), ESPIPE);
    FAILS(pread(client, text, 1, 0), ESPIPE);
    FAILS(connect(client, &name.any, name.length), EISCONN);
    IS(close(client), 0);
    IS(read(server, text, 1), 0);
    IS(read(server, text, 1), 0);
    IS(close(server), 0);
    FAILS(read(server, text, 1), EBADF);
    FAILS(getsockname(server, &from.any, &from.length), EBADF);
    IS(close(listener), 0);
}

static void backlog(int family) {
    // Clients may connect, write and leave before they are accepted, in the order of connecting.
    char text[4];
    int listener = listening(family), clients[3];
    for (int i = 0; i < 3; i++) {
        clients[i] = connecting(listener);
        IS(write(clients[i], &"abc"[i], 1), 1);
    }
    IS(close(clients[1]), 0);
    for (int i = 0; i < 3; i++) {
        int server = accept4(listener, NULL, NULL, SOCK_CLOEXEC | (i ? 0 : SOCK_NONBLOCK));
        IS(fcntl(server, F_GETFD), FD_CLOEXEC);
        IS(fcntl(server, F_GETFL) & O_NONBLOCK, i ? 0 : O_NONBLOCK);
        CHECK(await(server, POLLIN) & POLLIN);
        IS(read(server, text, 4), 1);
        IS(text[0], "abc"[i]);
        if (i == 1) IS(read(server, text, 4), 0);
        IS(close(server), 0);
    }
    IS(close(clients[0]) + close(clients[2]) + close(listener), 0);
}

static void endings(int family) {
    char text[4];
    // Half of a connection can be closed.
    struct pair pair = connected(family);
    IS(write(pair.client, "ask", 3), 3);
    IS(shutdown(pair.client, SHUT_WR), 0);
    FAILS(send(pair.client, "x", 1, MSG_NOSIGNAL), EPIPE);
    IS(recv(pair.server, text, 3, MSG_WAITALL), 3);
    IS(read(pair.server, text, 1), 0);
    IS(write(pair.server, "yes", 3), 3);
    IS(recv(pair.client, text, 3, MSG_WAITALL), 3);
    SAME(text, "yes");
    IS(shutdown(pair.client, SHUT_WR), 0);
    close_both(pair);
    // The other half: what is not there is not waited for.
    pair = connected(family);
    IS(shutdown(pair.server, SHUT_RD), 0);
    IS(read(pair.server, text, 1), 0);
    IS(write(pair.server, "still", 5), 5);
    IS(recv(pair.client, text, 4, MSG_WAITALL), 4);
    close_both(pair);
    pair = connected(family);
    IS(shutdown(pair.server, SHUT_RDWR), 0);
    IS(read(pair.client, text, 1), 0);
    IS(read(pair.server, text, 1), 0);
    FAILS(send(pair.server, "x", 1, MSG_NOSIGNAL), EPIPE);
    close_both(pair);
    // Closing with unread data resets the connection.
    pair = connected(family);
    IS(write(pair.client, "unread", 6), 6);
    CHECK(await(pair.server, POLLIN) & POLLIN);
    IS(close(pair.server), 0);
    CHECK(await(pair.client, POLLIN) & POLLHUP);
    FAILS(read(pair.client, text, 1), ECONNRESET);
    IS(read(pair.client, text, 1), 0);
    FAILS(send(pair.client, "x", 1, MSG_NOSIGNAL), EPIPE);
    IS(close(pair.client), 0);
}

static void lingering(void) {
    struct pair pair = connected(AF_INET);
    struct linger linger = {1, 0}, got = {9, 9};
    socklen_t length = sizeof got;
    char byte;
    IS(setsockopt(pair.server, SOL_SOCKET, SO_LINGER, &linger, sizeof linger), 0);
    IS(getsockopt(pair.server, SOL_SOCKET, SO_LINGER, &got, &length), 0);
    CHECK(got.l_onoff == 1 && got.l_linger == 0);
    IS(close(pair.server), 0);
    CHECK(await(pair.client, POLLIN) & POLLERR);
    IS(number_option(pair.client, SOL_SOCKET, SO_ERROR), ECONNRESET);
    IS(number_option(pair.client, SOL_SOCKET, SO_ERROR), 0);
    IS(read(pair.client, &byte, 1), 0);
    IS(close(pair.client), 0);
    // Written data arrives although the writer closes at once.
    pair = connected(AF_INET);
    linger.l_linger = 5;
    IS(setsockopt(pair.server, SOL_SOCKET, SO_LINGER, &linger, sizeof linger), 0);
    IS(write(pair.server, "x", 1), 1);
    IS(close(pair.server), 0);
    IS(read(pair.client, &byte, 1), 1);
    IS(read(pair.client, &byte, 1), 0);
    IS(close(pair.client), 0);
}

static volatile int pipes;
static void on_pipe(int signal) { pipes += signal == SIGPIPE; }

static void broken_pipes(int family) {
    struct sigaction action = {.sa_handler = on_pipe};
    IS(sigaction(SIGPIPE, &action, NULL), 0);
    struct pair pair = connected(family);
    IS(shutdown(pair.client, SHUT_WR), 0);
    pipes = 0;
    FAILS(write(pair.client, "x", 1), EPIPE);
    IS(pipes, 1);
    FAILS(send(pair.client, "x", 1, MSG_NOSIGNAL), EPIPE);
    IS(pipes, 1);
    signal(SIGPIPE, SIG_IGN);
    FAILS(write(pair.client, "x", 1), EPIPE);
    IS(pipes, 1);
    signal(SIGPIPE, SIG_DFL);
    close_both(pair);
}

static void mistakes(void) {
    char text[4];
    struct address address = loopback(AF_INET);
    int fd = socket(AF_INET, SOCK_STREAM, 0), other;
    FAILS(recv(fd, text, 1, 0), ENOTCONN);
    FAILS(send(fd, text, 1, MSG_NOSIGNAL), EPIPE);
    FAILS(shutdown(fd, SHUT_WR), ENOTCONN);
    FAILS(getpeername(fd, &address.any, &address.length), ENOTCONN);
    FAILS(accept(fd, NULL, NULL), EINVAL);
    IS(bind(fd, &address.any, address.length), 0);
    FAILS(bind(fd, &address.any, address.length), EINVAL);
    address = name_of(fd);
    // Bound, but nobody listens there.
    other = socket(AF_INET, SOCK_STREAM, 0);
    FAILS(connect(other, &address.any, address.length), ECONNREFUSED);
    IS(number_option(other, SOL_SOCKET, SO_ERROR), 0);
    IS(listen(fd, 1), 0);
    IS(connect(other, &address.any, address.length), 0);
    IS(close(other), 0);
    other = socket(AF_INET, SOCK_STREAM, 0);
    FAILS(bind(other, &address.any, address.length), EADDRINUSE);
    FAILS(connect(other, &address.any, 3), EINVAL);
    struct address foreign = loopback(AF_INET6);
    FAILS(connect(other, &foreign.any, foreign.length), EAFNOSUPPORT);
    IS(close(other), 0);
    IS(close(fd), 0);
    other = socket(AF_INET, SOCK_STREAM, 0);
    FAILS(connect(other, &address.any, address.length), ECONNREFUSED);
    IS(close(other), 0);
    FAILS(socket(AF_INET, 77, 0), EINVAL);
    FAILS(socket(AF_INET, SOCK_STREAM, IPPROTO_UDP), EPROTONOSUPPORT);
    FAILS(socket(99, SOCK_STREAM, 0), EAFNOSUPPORT);
    fd = open("/dev/null", O_RDONLY);
    FAILS(recv(fd, text, 1, 0), ENOTSOCK);
    FAILS(listen(fd, 1), ENOTSOCK);
    FAILS(getsockname(fd, &address.any, &address.length), ENOTSOCK);
    IS(close(fd), 0);
    FAILS(connect(fd, &address.any, address.length), EBADF);
}

static void options(void) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), value = 1;
    socklen_t length = sizeof value;
    IS(fcntl(fd, F_GETFD), FD_CLOEXEC);
    IS(fcntl(fd, F_GETFL), O_RDWR);
    IS(number_option(fd, SOL_SOCKET, SO_TYPE), SOCK_STREAM);
    IS(number_option(fd, SOL_SOCKET, SO_DOMAIN), AF_INET);
    IS(number_option(fd, SOL_SOCKET, SO_PROTOCOL), IPPROTO_TCP);
    IS(number_option(fd, SOL_SOCKET, SO_ERROR), 0);
    static const int switches[][2] = {
        {SOL_SOCKET, SO_REUSEADDR}, {SOL_SOCKET, SO_KEEPALIVE}, {SOL_SOCKET, SO_BROADCAST},
        {SOL_SOCKET, SO_REUSEPORT}, {SOL_SOCKET, SO_OOBINLINE}, {IPPROTO_TCP, TCP_NODELAY},
    };
    for (unsigned i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        IS(number_option(fd, switches[i][0], switches[i][1]), 0);
        set_number(fd, switches[i][0], switches[i][1], 1);
        IS(number_option(fd, switches[i][0], switches[i][1]), 1);
        set_number(fd, switches[i][0], switches[i][1], 0);
        IS(number_option(fd, switches[i][0], switches[i][1]), 0);
    }
    set_number(fd, SOL_SOCKET, SO_RCVBUF, 30000);
    set_number(fd, SOL_SOCKET, SO_SNDBUF, 30000);
    IS(number_option(fd, SOL_SOCKET, SO_RCVBUF), 60000);
    IS(number_option(fd, SOL_SOCKET, SO_SNDBUF), 60000);
    set_number(fd, IPPROTO_TCP, TCP_KEEPIDLE, 17);
    IS(number_option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 17);
    FAILS(getsockopt(fd, SOL_SOCKET, 9999, &value, &length), ENOPROTOOPT);
    FAILS(setsockopt(fd, SOL_SOCKET, 9999, &value, sizeof value), ENOPROTOOPT);
    FAILS(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &value, 1), EINVAL);
    struct timeval time = {3, 500000}, got;
    length = sizeof got;
    IS(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time), 0);
    IS(getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &got, &length), 0);
    CHECK(got.tv_sec == 3 && got.tv_usec == 500000);
    IS(close(fd), 0);
    fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0);
    IS(fcntl(fd, F_GETFL), O_RDWR | O_NONBLOCK);
    set_number(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    IS(number_option(fd, IPPROTO_IPV6, IPV6_V6ONLY), 1);
    IS(close(fd), 0);
}

static void paths(const char *folder) {
    struct address address = {.local = {.sun_family = AF_UNIX}}, from;
    snprintf(address.local.sun_path, sizeof address.local.sun_path, "%s/socket", folder);
    address.length = sizeof address.local;
    int client = socket(AF_UNIX, SOCK_STREAM, 0), listener = socket(AF_UNIX, SOCK_STREAM, 0);
    FAILS(connect(client, &address.any, address.length), ENOENT);
    IS(bind(listener, &address.any, address.length), 0);
    FAILS(connect(client, &address.any, address.length), ECONNREFUSED);
    IS(listen(listener, 2), 0);
    struct stat status;
    IS(stat(address.local.sun_path, &status), 0);
    CHECK(S_ISSOCK(status.st_mode));
    IS(connect(client, &address.any, address.length), 0);
    from.length = sizeof from.storage;
    int server = accept(listener, &from.any, &from.length);
    // A client without a name.
    IS(from.length, sizeof(sa_family_t));
    IS(strcmp(peer_of(client).local.sun_path, address.local.sun_path), 0);
    IS(write(client, "x", 1), 1);
    IS(close(client) + close(server) + close(listener), 0);
    client = socket(AF_UNIX, SOCK_STREAM, 0);
    FAILS(bind(client, &address.any, address.length), EADDRINUSE);
    FAILS(connect(client, &address.any, address.length), ECONNREFUSED);
    IS(unlink(address.local.sun_path), 0);
    FAILS(connect(client, &address.any, address.length), ENOENT);
    // Abstract names begin with a zero byte and vanish with their socket.
    memset(&address, 0, sizeof address);
    address.local.sun_family = AF_UNIX;
    int length = snprintf(address.local.sun_path + 1, 100, "everyday %d", (int)getpid());
    address.length = sizeof(sa_family_t) + 1 + length;
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    FAILS(connect(client, &address.any, address.length), ECONNREFUSED);
    IS(bind(listener, &address.any, address.length), 0);
    IS(listen(listener, 2), 0);
    IS(connect(client, &address.any, address.length), 0);
    CHECK(same(peer_of(client), address));
    IS(close(listener), 0);
    CHECK(await(client, POLLIN) & POLLHUP);
    IS(close(client), 0);
    client = socket(AF_UNIX, SOCK_STREAM, 0);
    FAILS(connect(client, &address.any, address.length), ECONNREFUSED);
    IS(close(client), 0);
}

// An IPv6 socket for IPv6 only has a port of its own.
static void only_ipv6(int type) {
    struct address any = {.v4 = {.sin_family = AF_INET}, .length = sizeof any.v4};
    int v4 = socket(AF_INET, type, 0), v6 = socket(AF_INET6, type, 0), on = 1, got = 0;
    socklen_t length = sizeof got;
    IS(bind(v4, &any.any, any.length), 0);
    struct address both = {.v6 = {.sin6_family = AF_INET6}, .length = sizeof both.v6};
    both.v6.sin6_port = name_of(v4).v4.sin_port;
    FAILS(bind(v6, &both.any, both.length), EADDRINUSE);
    IS(getsockopt(v6, IPPROTO_IPV6, IPV6_V6ONLY, &got, &length), 0);
    IS(got, 0);
    IS(setsockopt(v6, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on), 0);
    IS(getsockopt(v6, IPPROTO_IPV6, IPV6_V6ONLY, &got, &length), 0);
    IS(got, 1);
    IS(bind(v6, &both.any, both.length), 0);
    FAILS(setsockopt(v6, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on), EINVAL);
    // What is sent to IPv4 does not reach it.
    close(v4);
    int client = socket(AF_INET, type, 0);
    struct address to = loopback(AF_INET);
    to.v4.sin_port = both.v6.sin6_port;
    if (type == SOCK_STREAM) {
        IS(listen(v6, 1), 0);
        FAILS(connect(client, &to.any, to.length), ECONNREFUSED);
    } else {
        IS(connect(client, &to.any, to.length), 0);
        IS(send(client, "x", 1, 0), 1);
        FAILS(recv(v6, &got, 1, MSG_DONTWAIT), EAGAIN);
    }
    close(client);
    close(v6);
}

int main(int argc, char **argv) {
    CHECK(argc > 1);
    only_ipv6(SOCK_STREAM);
    only_ipv6(SOCK_DGRAM);
    printf("only IPv6\n");
    for (int i = 0; i < 3; i++) {
        connections(families[i]);
        printf("connections %d\n", i);
        backlog(families[i]);
        printf("backlog %d\n", i);
        endings(families[i]);
        printf("endings %d\n", i);
        broken_pipes(families[i]);
        printf("broken pipes %d\n", i);
    }
    lingering();
    puts("lingering");
    mistakes();
    puts("mistakes");
    options();
    puts("options");
    paths(argv[1]);
    puts("paths");
    return 0;
}
