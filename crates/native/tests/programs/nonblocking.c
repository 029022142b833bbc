// Calls that do not wait: sockets in non-blocking mode, however they got there.
#include "net.h"

static void modes(void) {
    char byte;
    struct pair pair = connected(AF_INET);
    set_nonblocking(pair.client);
    FAILS(read(pair.client, &byte, 1), EAGAIN);
    IS(fcntl(pair.client, F_GETFL), O_RDWR | O_NONBLOCK);
    int off = 0, on = 1;
    IS(ioctl(pair.client, FIONBIO, &off), 0);
    IS(fcntl(pair.client, F_GETFL), O_RDWR);
    IS(ioctl(pair.client, FIONBIO, &on), 0);
    FAILS(read(pair.client, &byte, 1), EAGAIN);
    FAILS(recv(pair.client, &byte, 1, MSG_WAITALL), EAGAIN);
    IS(write(pair.server, "x", 1), 1);
    CHECK(await(pair.client, POLLIN) & POLLIN);
    IS(read(pair.client, &byte, 1), 1);
    IS(close(pair.server), 0);
    CHECK(await(pair.client, POLLIN) & POLLIN);
    IS(read(pair.client, &byte, 1), 0);
    IS(close(pair.client), 0);
}

static void accepting(int family) {
    int listener = listening(family);
    set_nonblocking(listener);
    FAILS(accept(listener, NULL, NULL), EAGAIN);
    int client = connecting(listener);
    CHECK(await(listener, POLLIN) & POLLIN);
    int server = accept(listener, NULL, NULL);
    CHECK(server >= 0);
    // The mode is not inherited.
    IS(fcntl(server, F_GETFL), O_RDWR);
    FAILS(accept4(listener, NULL, NULL, SOCK_NONBLOCK), EAGAIN);
    IS(close(client) + close(server) + close(listener), 0);
}

static void connections(int family) {
    int listener = listening(family);
    struct address address = name_of(listener);
    int client = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    FAILS(connect(client, &address.any, address.length), EINPROGRESS);
    IS(await(client, POLLOUT), POLLOUT);
    IS(number_option(client, SOL_SOCKET, SO_ERROR), 0);
    // Asked again, it says that it is done, and then that there is nothing to do.
    IS(connect(client, &address.any, address.length), 0);
    FAILS(connect(client, &address.any, address.length), EISCONN);
    IS(write(client, "x", 1), 1);
    IS(close(client) + close(listener), 0);
    // Nobody listens any more.
    client = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    FAILS(connect(client, &address.any, address.length), EINPROGRESS);
    IS(await(client, POLLOUT), POLLOUT | POLLERR | POLLHUP);
    IS(number_option(client, SOL_SOCKET, SO_ERROR), ECONNREFUSED);
    IS(number_option(client, SOL_SOCKET, SO_ERROR), 0);
    IS(close(client), 0);
    client = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    FAILS(connect(client, &address.any, address.length), EINPROGRESS);
    CHECK(await(client, POLLOUT) & POLLERR);
    FAILS(connect(client, &address.any, address.length), ECONNREFUSED);
    IS(close(client), 0);
}

static void local_connections(void) {
    int listener = listening(AF_UNIX);
    struct address address = name_of(listener);
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    IS(connect(client, &address.any, address.length), 0);
    FAILS(connect(client, &address.any, address.length), EISCONN);
    IS(close(client) + close(listener), 0);
    client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    FAILS(connect(client, &address.any, address.length), ECONNREFUSED);
    IS(close(client), 0);
}

// Who finds no room in the queue of a listener is connected later, by itself.
static void full_queues(int family) {
    char byte;
    int listener = bound(family, SOCK_STREAM), clients[4];
    IS(listen(listener, 1), 0);
    struct address address = name_of(listener);
    for (int i = 0; i < 4; i++) {
        clients[i] = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);
        FAILS(connect(clients[i], &address.any, address.length), EINPROGRESS);
        if (i < 2) IS(await(clients[i], POLLOUT), POLLOUT);
    }
    struct pollfd looked = {.fd = clients[2], .events = POLLIN | POLLOUT};
    IS(poll(&looked, 1, 0), 0);
    FAILS(connect(clients[2], &address.any, address.length), EALREADY);
    FAILS(send(clients[2], "x", 1, MSG_NOSIGNAL), EAGAIN);
    FAILS(recv(clients[2], &byte, 1, 0), EAGAIN);
    socklen_t length = sizeof address.storage;
    FAILS(getpeername(clients[2], &address.any, &length), ENOTCONN);
    IS(number_option(clients[2], SOL_SOCKET, SO_ERROR), 0);
    // A call that waits, but not for ever.
    int patient = socket(family, SOCK_STREAM, 0);
    struct timeval soon = {0, 20000};
    IS(setsockopt(patient, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon), 0);
    FAILS(connect(patient, &address.any, address.length), EINPROGRESS);
    FAILS(connect(patient, &address.any, address.length), EALREADY);
    FAILS(send(patient, "x", 1, MSG_NOSIGNAL), EAGAIN);
    IS(close(patient), 0);
    int servers[2];
    for (int i = 0; i < 2; i++) CHECK((servers[i] = accept(listener, NULL, NULL)) >= 0);
    for (int i = 2; i < 4; i++) {
        IS(await(clients[i], POLLOUT), POLLOUT);
        IS(connect(clients[i], &address.any, address.length), 0);
        FAILS(connect(clients[i], &address.any, address.length), EISCONN);
    }
    for (int i = 0; i < 4; i++) IS(close(clients[i]), 0);
    IS(close(servers[0]) + close(servers[1]) + close(listener), 0);
}

// Unix sockets do not try again.
static void full_local_queues(void) {
    int listener = bound(AF_UNIX, SOCK_STREAM), clients[3];
    IS(listen(listener, 1), 0);
    struct address address = name_of(listener);
    for (int i = 0; i < 3; i++) {
        clients[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (i < 2) IS(connect(clients[i], &address.any, address.length), 0);
    }
    FAILS(connect(clients[2], &address.any, address.length), EAGAIN);
    int patient = socket(AF_UNIX, SOCK_STREAM, 0);
    struct timeval soon = {0, 20000};
    IS(setsockopt(patient, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon), 0);
    FAILS(connect(patient, &address.any, address.length), EAGAIN);
    for (int i = 0; i < 3; i++) IS(close(clients[i]), 0);
    IS(close(patient) + close(listener), 0);
}

// Writes until there is no room, reads everything, and there is room again.
static void filling(int family) {
    static char bytes[8192];
    struct pair pair = connected(family);
    set_nonblocking(pair.client);
    set_nonblocking(pair.server);
    long written = 0, read_back = 0;
    for (ssize_t count; (count = write(pair.client, bytes, sizeof bytes)) > 0;) written += count;
    IS(errno, EAGAIN);
    CHECK(written >= 16384);
    struct pollfd full = {.fd = pair.client, .events = POLLOUT};
    IS(poll(&full, 1, 0), 0);
    while (read_back < written) {
        CHECK(await(pair.server, POLLIN) & POLLIN);
        ssize_t count = read(pair.server, bytes, sizeof bytes);
        CHECK(count > 0);
        read_back += count;
    }
    IS(read_back, written);
    FAILS(read(pair.server, bytes, 1), EAGAIN);
    CHECK(await(pair.client, POLLOUT) & POLLOUT);
    CHECK(write(pair.client, bytes, 1) == 1);
    close_both(pair);
}

// An echo server that never waits but in poll, and clients on threads.
static void *asks(void *argument) {
    char byte = 'a';
    int fd = connecting(*(int *)argument);
    for (int i = 0; i < 2; i++) {
        IS(write(fd, &byte, 1), 1);
        IS(read(fd, &byte, 1), 1);
    }
    IS(close(fd), 0);
    return (void *)(long)byte;
}

static void a_server_without_threads(int family) {
    int listener = listening(family), ended = 0;
    set_nonblocking(listener);
    pthread_t clients[2] = {start(asks, &listener), start(asks, &listener)};
    struct pollfd watched[3] = {{.fd = listener, .events = POLLIN}, {.fd = -1}, {.fd = -1}};
    while (ended < 2) {
        CHECK(poll(watched, 3, LONG) > 0);
        if (watched[0].revents) {
            int client = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
            CHECK(client >= 0);
            int free = watched[1].fd < 0 && ended == 0 ? 1 : 2;
            watched[free] = (struct pollfd){.fd = client, .events = POLLIN};
            continue;
        }
        for (int i = 1; i < 3; i++) {
            char byte;
            if (watched[i].fd < 0 || !watched[i].revents) continue;
            if (read(watched[i].fd, &byte, 1) == 1) {
                byte += 1;
                IS(write(watched[i].fd, &byte, 1), 1);
            } else {
                IS(close(watched[i].fd), 0);
                watched[i].fd = -1;
                ended += 1;
            }
        }
    }
    for (int i = 0; i < 2; i++) IS((long)join(clients[i]), 'c');
    IS(close(listener), 0);
}

int main(void) {
    static const int families[] = {AF_INET, AF_INET6, AF_UNIX};
    modes();
    puts("modes");
    for (int i = 0; i < 3; i++) {
        accepting(families[i]);
        filling(families[i]);
        a_server_without_threads(families[i]);
        printf("family %d\n", i);
    }
    connections(AF_INET);
    connections(AF_INET6);
    local_connections();
    full_queues(AF_INET);
    full_queues(AF_INET6);
    full_local_queues();
    puts("connections");
    return 0;
}
