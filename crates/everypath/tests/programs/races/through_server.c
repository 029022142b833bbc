// client PORT right | wrong | update, server PORT. The threads of the client share memory. right: one writes it before
// it sends, and the other reads it after what the server sends because of that; wrong: and expects what was there
// before. update: both count, without a lock.
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int sockets[2];
static volatile int shared;
static int expected;

static struct sockaddr_in address(const char *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static void *writes(void *unused) {
    shared = 1;
    assert(write(sockets[0], "x", 1) == 1);
    return unused;
}

static void *reads(void *unused) {
    char byte;
    assert(read(sockets[1], &byte, 1) == 1);
    assert(shared == expected);
    return unused;
}

static void *counts(void *unused) {
    shared = shared + 1;
    return unused;
}

static void serve(const char *port) {
    struct sockaddr_in here = address(port);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert(!bind(listener, (struct sockaddr *)&here, sizeof here) && !listen(listener, 2));
    int first = accept(listener, 0, 0), second = accept(listener, 0, 0);
    char byte;
    assert(read(first, &byte, 1) == 1 && write(second, &byte, 1) == 1);
}

int main(int count, char **arguments) {
    if (count < 4) {
        serve(arguments[2]);
        return 0;
    }
    struct sockaddr_in server = address(arguments[2]);
    for (int i = 0; i < 2; i++) {
        sockets[i] = socket(AF_INET, SOCK_STREAM, 0);
        assert(!connect(sockets[i], (struct sockaddr *)&server, sizeof server));
    }
    int updates = !strcmp(arguments[3], "update");
    expected = strcmp(arguments[3], "wrong") != 0;
    pthread_t threads[2];
    pthread_create(&threads[0], 0, updates ? counts : writes, 0);
    pthread_create(&threads[1], 0, updates ? counts : reads, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    if (updates) {
        assert(shared == 2);
        expected = shared = 1;
        writes(0);
        reads(0);
    }
    return 0;
}
