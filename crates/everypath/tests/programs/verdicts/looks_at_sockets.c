// A thread looks so many times without waiting whether there is something at a socket, and gives up; it
// believes that what another thread sends is there by then: `looks_at_sockets LOOKS [poll|epoll]`.
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static int ends[2], most;
static const char *how = "";

static int look(int epoll) {
    char byte;
    struct epoll_event event;
    if (!strcmp(how, "poll"))
        return poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, 0) == 1;
    if (!strcmp(how, "epoll"))
        return epoll_wait(epoll, &event, 1, 0) == 1;
    return recv(ends[0], &byte, 1, MSG_DONTWAIT) == 1;
}

static void *receive(void *unused) {
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(0), found = 0;
    epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
    for (int looks = 0; looks < most && !found; looks++)
        found = look(epoll);
    assert(found);
    return unused;
}

static void *send_one(void *unused) {
    send(ends[1], "x", 1, 0);
    return unused;
}

int main(int argc, char **argv) {
    most = atoi(argv[1]);
    if (argc > 2)
        how = argv[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, receive, NULL);
    pthread_create(&threads[1], NULL, send_one, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
