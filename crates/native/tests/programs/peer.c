// Servers and clients that the checker talks to: peer ROLE ADDRESS [TEXT].
// An address is a port of 127.0.0.1, a port of ::1 after a colon, or the path of a Unix socket.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static const char *role, *text;

static void check(int result, const char *what) {
    if (result < 0) {
        perror(what);
        exit(1);
    }
}

static int is(const char *name) { return strcmp(role, name) == 0; }

// A socket, bound and listening or connected.
static int at(const char *address, int listening) {
    struct sockaddr_storage all = {0};
    socklen_t length;
    if (address[0] == '/') {
        struct sockaddr_un *name = (struct sockaddr_un *)&all;
        name->sun_family = AF_UNIX;
        strncpy(name->sun_path, address, sizeof name->sun_path - 1);
        length = sizeof *name;
    } else if (address[0] == ':') {
        struct sockaddr_in6 *name = (struct sockaddr_in6 *)&all;
        name->sin6_family = AF_INET6;
        name->sin6_port = htons(atoi(address + 1));
        name->sin6_addr = in6addr_loopback;
        length = sizeof *name;
    } else {
        struct sockaddr_in *name = (struct sockaddr_in *)&all;
        name->sin_family = AF_INET;
        name->sin_port = htons(atoi(address));
        name->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        length = sizeof *name;
    }
    int s = socket(all.ss_family, SOCK_STREAM, 0), one = 1;
    check(s, "socket");
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (!listening) {
        check(connect(s, (struct sockaddr *)&all, length), "connect");
        return s;
    }
    check(bind(s, (struct sockaddr *)&all, length), "bind");
    check(listen(s, 64), "listen");
    return s;
}

static void send_all(int s, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t sent = send(s, bytes, length, MSG_NOSIGNAL);
        if (sent < 0)
            return;
        bytes += sent;
        length -= sent;
    }
}

// What a server does with one connection.
static void serve(int s) {
    static int connections;
    int number = __sync_add_and_fetch(&connections, 1);
    char byte;
    if (is("daytime")) {
        send_all(s, "Mon, 16 Nov 2026 12:00:00 GMT\n", 30);
        return;
    }
    while (is("flood"))
        if (send(s, "flood", 5, MSG_NOSIGNAL) < 0)
            return;
    while (read(s, &byte, 1) == 1) {
        if (is("alphabet") || is("sequential"))
            byte = 'a' + (byte - '0');
        if (is("different"))
            byte = '0' + number;
        if (is("crash")) {
            fprintf(stderr, "no such letter\n");
            abort();
        }
        while (is("spin"))
            ;
        if (is("slow")) {
            struct timespec nap = {0, 30 * 1000 * 1000};
            nanosleep(&nap, NULL);
        }
        if (is("lines") && byte != '\n')
            continue;
        send_all(s, is("lines") ? "page" : &byte, is("lines") ? 4 : 1);
        if (is("goodbye"))
            return;
    }
    if (is("lines"))
        send_all(s, "bye", 3);
}

static void *serve_one(void *argument) {
    serve((int)(long)argument);
    close((int)(long)argument);
    return NULL;
}

int main(int count, char **arguments) {
    role = arguments[1];
    text = count > 3 ? arguments[3] : "";
    signal(SIGPIPE, SIG_IGN);
    if (is("deaf"))
        for (;;)
            pause();
    if (is("asleep"))
        for (;;)
            sleep(1000);
    if (is("broken")) {
        fprintf(stderr, "no configuration\n");
        return 3;
    }
    if (is("say") || is("twice")) {
        // A client: says something and reads until the end.
        int s = at(arguments[2], 0);
        if (is("twice"))
            at(arguments[2], 0);
        send_all(s, text, strlen(text));
        char buffer[64];
        while (read(s, buffer, sizeof buffer) > 0)
            ;
        return 0;
    }
    if (is("daemon")) {
        // Leaves its group and its parent, and has a child.
        if (fork() > 0)
            return pause();
        setsid();
        if (fork() > 0)
            _exit(0);
        if (fork() == 0)
            return pause();
        role = "alphabet";
    }
    int listening = at(arguments[2], 1);
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        int s = accept(listening, NULL, NULL);
        check(s, "accept");
        if (is("sequential")) {
            serve_one((void *)(long)s);
            continue;
        }
        if (is("once")) {
            close(listening);
            serve_one((void *)(long)s);
            return 0;
        }
        pthread_t thread;
        pthread_create(&thread, NULL, serve_one, (void *)(long)s);
        pthread_detach(thread);
    }
}
