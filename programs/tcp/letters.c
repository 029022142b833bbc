// Asks an alphabet server for letters, all at once: each thread has a connection, writes its digits
// in one call and reads the answers. It believes that a server is there and stays, that a call
// writes and reads everything, and that nothing interrupts it; with `careful` it does not. It reads
// at once, or looks first whether there is something to read, by `poll`, `select` or `epoll`.

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 10 };
static int port, messages;
static bool careful;
static const char *looks = "";

/// Whether to try again: nobody is to blame for an interruption.
static bool again(long result) { return careful && result < 0 && errno == EINTR; }

/// Waits until something can be read, in the way that was asked for.
static int await(int server) {
    if (!strcmp(looks, "poll"))
        return poll(&(struct pollfd){.fd = server, .events = POLLIN}, 1, -1);
    if (!strcmp(looks, "select")) {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(server, &set);
        return select(server + 1, &set, NULL, NULL, NULL);
    }
    if (!strcmp(looks, "epoll")) {
        struct epoll_event event = {.events = EPOLLIN};
        int epoll = epoll_create1(0);
        epoll_ctl(epoll, EPOLL_CTL_ADD, server, &event);
        int ready = epoll_wait(epoll, &event, 1, -1), error = errno;
        close(epoll);
        errno = error;
        return ready;
    }
    return 1;
}

/// Asks for letters; whether they came. That a server is not there, or not any more, is no mistake
/// of a careful client.
static bool ask(int server, const struct sockaddr_in *address) {
    char digits[MOST], letters[MOST];
    int result;
    do
        result = connect(server, (const struct sockaddr *)address, sizeof *address);
    while (again(result));
    if (result < 0)
        return careful && errno == ECONNREFUSED;
    for (int at = 0; at < messages; at++)
        digits[at] = '0' + at;
    for (long done = 0, written; done < messages; done += written) {
        do
            written = write(server, digits + done, messages - done);
        while (again(written));
        if (written < 0)
            return careful && (errno == ECONNRESET || errno == EPIPE);
        if (!careful && written < messages)
            return false;
    }
    do
        result = await(server);
    while (again(result));
    if (result != 1)
        return false;
    for (long done = 0, got; done < messages; done += got) {
        do
            got = read(server, letters + done, messages - done);
        while (again(got));
        if (got <= 0)
            return careful && got < 0 && errno == ECONNRESET;
        if (!careful && got < messages)
            return false;
    }
    for (int at = 0; at < messages; at++)
        if (letters[at] != 'a' + at)
            return false;
    return true;
}

static void *session(void *unused) {
    (void)unused;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int server;
    do
        server = socket(AF_INET, SOCK_STREAM, 0);
    while (careful && server < 0 && errno == EMFILE);
    if (server < 0)
        return &port;
    bool came = ask(server, &address);
    close(server);
    return came ? NULL : &port;
}

int main(int count, char **arguments) {
    if (count < 4) {
        fprintf(stderr, "usage: letters PORT THREADS MESSAGES [careful [poll|select|epoll]]\n");
        return 2;
    }
    port = atoi(arguments[1]);
    int threads = atoi(arguments[2]), failed = 0;
    messages = atoi(arguments[3]);
    careful = count > 4;
    if (count > 5)
        looks = arguments[5];
    assert(0 < threads && threads <= MOST && 0 < messages && messages <= MOST);
    signal(SIGPIPE, SIG_IGN);
    pthread_t all[MOST];
    for (int at = 0; at < threads; at++)
        pthread_create(&all[at], NULL, session, NULL);
    for (int at = 0; at < threads; at++) {
        void *result;
        pthread_join(all[at], &result);
        failed += result != NULL;
    }
    return failed;
}
