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
    puts("connections");
    return 0;
}
