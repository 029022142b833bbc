// A peer that does something after a wait with a timeout: poll, select, epoll, futex, timerfd, nanosleep.
//   takes_its_time server PORT WAIT [times]    answers each message after so many waits (1)
//   takes_its_time closes PORT WAIT            closes the connection after a wait
//   takes_its_time client PORT WAIT            sends `a`, waits, sends `b`, and waits for the end
//   takes_its_time datagrams PORT WAIT         answers each datagram after a wait
//   takes_its_time soon PORT WAIT              answers each message after a short wait
//   takes_its_time late PORT WAIT              listens after a wait, and answers each message at once
//   takes_its_time loops PORT WAIT             answers at once, and waits again and again
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static long milliseconds = 300;

static void wait_a_while(const char *how) {
    if (strcmp(how, "poll") == 0) {
        poll(NULL, 0, milliseconds);
    } else if (strcmp(how, "select") == 0) {
        struct timeval time = {.tv_usec = milliseconds * 1000};
        select(0, NULL, NULL, NULL, &time);
    } else if (strcmp(how, "epoll") == 0) {
        struct epoll_event event;
        int epoll = epoll_create1(0);
        epoll_wait(epoll, &event, 1, milliseconds);
        close(epoll);
    } else if (strcmp(how, "futex") == 0) {
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += milliseconds * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_mutex_lock(&mutex);
        pthread_cond_timedwait(&condition, &mutex, &until);
        pthread_mutex_unlock(&mutex);
    } else if (strcmp(how, "nanosleep") == 0) {
        usleep(milliseconds * 1000);
    } else {
        struct itimerspec time = {.it_value.tv_nsec = milliseconds * 1000000L};
        int timer = timerfd_create(CLOCK_MONOTONIC, 0);
        timerfd_settime(timer, 0, &time, NULL);
        poll(&(struct pollfd){timer, POLLIN, 0}, 1, -1);
        close(timer);
    }
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    const char *role = argv[1], *how = argv[3];
    if (strcmp(role, "soon") == 0) milliseconds = 10;
    int is_datagram = strcmp(role, "datagrams") == 0, is_client = strcmp(role, "client") == 0;
    int s = socket(AF_INET, is_datagram ? SOCK_DGRAM : SOCK_STREAM, 0), on = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))}, from;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    char message[16];
    if (is_client) {
        if (connect(s, (struct sockaddr *)&at, sizeof at) != 0 || write(s, "a", 1) != 1) return 1;
        wait_a_while(how);
        if (write(s, "b", 1) != 1) return 1;
        return read(s, message, sizeof message) != 0;
    }
    if (strcmp(role, "late") == 0) wait_a_while(how);
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(s, (struct sockaddr *)&at, sizeof at) != 0) return 1;
    for (socklen_t length = sizeof from; is_datagram;) {
        ssize_t count =
            recvfrom(s, message, sizeof message, 0, (struct sockaddr *)&from, &length);
        wait_a_while(how);
        sendto(s, message, count, 0, (struct sockaddr *)&from, length);
    }
    listen(s, 8);
    for (;;) {
        int c = accept(s, NULL, NULL);
        ssize_t count;
        while ((count = read(c, message, sizeof message)) > 0) {
            int is_prompt = strcmp(role, "loops") == 0 || strcmp(role, "late") == 0;
            int times = is_prompt ? 0 : argc > 4 ? atoi(argv[4]) : 1;
            for (int i = 0; i < times; i++) wait_a_while(how);
            if (strcmp(role, "closes") == 0) break;
            if (write(c, message, count) != count) return 1;
            while (strcmp(role, "loops") == 0 && recv(c, message, 1, MSG_PEEK | MSG_DONTWAIT) < 0)
                wait_a_while(how);
        }
        close(c);
    }
}
