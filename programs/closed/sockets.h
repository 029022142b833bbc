// What all programs of this folder do with sockets of this machine.
#ifndef SOCKETS_H
#define SOCKETS_H
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static inline struct sockaddr_in port(int number) {
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons(number),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
}

static inline void must(int succeeded, const char *what) {
    if (!succeeded) {
        perror(what);
        exit(3);
    }
}

static inline int bound(int type, int number) {
    int yes = 1, made = socket(AF_INET, type, 0);
    struct sockaddr_in address = port(number);
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    must(bind(made, (struct sockaddr *)&address, sizeof address) == 0, "bind");
    return made;
}

static inline int listening(int number) {
    int made = bound(SOCK_STREAM, number);
    must(listen(made, 8) == 0, "listen");
    return made;
}

static inline int connected(int number) {
    int made = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = port(number);
    must(connect(made, (struct sockaddr *)&address, sizeof address) == 0, "connect");
    return made;
}

static inline int accepted(int listener) {
    int made = accept(listener, NULL, NULL);
    must(made >= 0, "accept");
    return made;
}

static inline void say(int to, char byte) { must(write(to, &byte, 1) == 1, "write"); }

// The next byte; 0 at the end.
static inline char hear(int from) {
    char byte = 0;
    must(read(from, &byte, 1) >= 0, "read");
    return byte;
}

#endif
