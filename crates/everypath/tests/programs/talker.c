// Does with sockets what its arguments say, a word for each operation. Words after a `/` are a
// thread of their own; those before the first one come first, and what they connected is seen by
// all threads, which begin with the last connection.
//   l7000  listen       c7000  connect      a   accept at the port that was listened on last
//   lname, cname        the same with a socket of the Unix family
//   sTEXT  send         ?TEXT  send one of these characters, by choice
//   r3     receive up to so many bytes      w3  receive exactly so many
//   =TEXT  fail unless this was received last; `=` alone is the end, `=!` an error
//   +TEXT  leave out the next word unless this was received last
//   h      send no more   x  close   u  unlisten   v  post   t  wait   f  send until that fails
//   k3     receive without waiting          o3  receive within a second
//   q9     poll the connection for so many milliseconds, less than 0 for ever
//   Q9     the connection and the listener   E9  the same by epoll   S9  the same by select
//   g      poll the connection and a pipe of its own, for ever
//   j      accept without waiting           n   connect without waiting from now on
//   b7000  make a datagram socket and bind it; `b` alone leaves its port open
//   @7001  say everything to this port from now on; O7001 connect the socket to it
//   mTEXT  send a datagram    M  send what was received last to where it came from
//   e3     receive up to so many bytes of one   y3  without waiting   z3  within a second
//   p9     poll the datagram socket             P9  it and the connection    X  close it
//   d      accept, each connection by a process of its own    L  begin again, from the next word
//   %      in the end, exit with a code that tells what was sent, received and seen
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

__attribute__((weak)) unsigned everypath_choose(unsigned ways);

static sem_t posted;
static int tells, waits = 1;

struct thread {
    char **words;
    int count, connection, listener, mailbox, to;
    // What it sent and received: 300 stands for the end, 301 for an error, 302 for nothing.
    unsigned digest;
    pthread_t thread;
};

static void digest(struct thread *self, unsigned value) {
    self->digest = (self->digest * 31 + value) % 1000003;
}

union address {
    struct sockaddr any;
    struct sockaddr_in inet;
    struct sockaddr_un local;
};

// The address that a word names: a port, or else a file.
static union address place(const char *name, socklen_t *length) {
    union address address = {.inet = {
        .sin_family = AF_INET,
        .sin_port = htons(atoi(name)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    }};
    *length = sizeof address.inet;
    if (!isdigit(*name)) {
        address.local = (struct sockaddr_un){.sun_family = AF_UNIX};
        strncpy(address.local.sun_path, name, sizeof address.local.sun_path - 1);
        *length = sizeof address.local;
    }
    return address;
}

static void must(int succeeded, const char *word) {
    if (!succeeded) {
        fprintf(stderr, "%s failed\n", word);
        _exit(250);
    }
}

static int open_socket(const char *name, int listens) {
    socklen_t size;
    union address address = place(name, &size);
    int made = socket(address.any.sa_family, SOCK_STREAM, 0), yes = 1;
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (listens) {
        must(bind(made, &address.any, size) == 0, "bind");
        must(listen(made, 1) == 0, "listen");
    } else if (waits) {
        must(connect(made, &address.any, size) == 0, "connect");
    } else {
        struct pollfd writable = {made, POLLOUT, 0};
        int error = 0;
        socklen_t length = sizeof error;
        fcntl(made, F_SETFL, O_NONBLOCK);
        connect(made, &address.any, size);
        must(poll(&writable, 1, -1) == 1, "poll");
        getsockopt(made, SOL_SOCKET, SO_ERROR, &error, &length);
        must(error == 0, "connect");
        fcntl(made, F_SETFL, 0);
    }
    return made;
}

// Which of two descriptors can be read from, a bit each; -1 is none.
static int ready(int one, int other, int timeout, char how) {
    int found = 0, fds[2] = {one, other};
    if (how == 'E') {
        struct epoll_event seen[2], wanted = {.events = EPOLLIN};
        int all = epoll_create1(0);
        for (int i = 0; i < 2; i++) {
            wanted.data.u32 = 1 << i;
            if (fds[i] >= 0) epoll_ctl(all, EPOLL_CTL_ADD, fds[i], &wanted);
        }
        int count = epoll_wait(all, seen, 2, timeout);
        while (count > 0) found |= seen[--count].data.u32;
        close(all);
    } else if (how == 'S') {
        struct timeval limit = {.tv_usec = timeout * 1000};
        fd_set set;
        FD_ZERO(&set);
        for (int i = 0; i < 2; i++)
            if (fds[i] >= 0) FD_SET(fds[i], &set);
        select((one > other ? one : other) + 1, &set, NULL, NULL, timeout < 0 ? NULL : &limit);
        for (int i = 0; i < 2; i++)
            if (fds[i] >= 0 && FD_ISSET(fds[i], &set)) found |= 1 << i;
    } else {
        struct pollfd watched[2] = {{one, POLLIN, 0}, {other, POLLIN, 0}};
        poll(watched, 2, timeout);
        for (int i = 0; i < 2; i++)
            if (watched[i].revents) found |= 1 << i;
    }
    return found;
}

static int open_mailbox(const char *name) {
    socklen_t size;
    union address address = place(*name ? name : "0", &size);
    int made = socket(AF_INET, SOCK_DGRAM, 0);
    if (*name) must(bind(made, &address.any, size) == 0, "bind");
    return made;
}

// Sends a datagram, to the other end of the socket if no port is named, and takes it down.
static void post(struct thread *self, int to, const char *bytes, int length) {
    char number[8];
    socklen_t size;
    snprintf(number, sizeof number, "%d", to);
    union address address = place(number, &size);
    ssize_t sent = sendto(self->mailbox, bytes, length, 0, to ? &address.any : NULL, to ? size : 0);
    digest(self, sent == length ? 30 : 31);
}

// Sends, and takes down what was taken.
static void say(struct thread *self, const char *bytes, int length) {
    if (send(self->connection, bytes, length, MSG_NOSIGNAL) == length)
        for (int i = 0; i < length; i++) digest(self, bytes[i]);
}

static void *run(void *argument) {
    struct thread *self = argument;
    char last[64] = "";
    ssize_t got = 0;
    int sender = 0, again = -1;
    for (int i = 0; i < self->count || again >= 0; i++) {
        if (i == self->count) i = again + 1;
        char *word = self->words[i], *rest = word + 1;
        struct timeval second = {.tv_sec = *word == 'o'};
        switch (*word) {
        case 'l': self->listener = open_socket(rest, 1); break;
        case 'c': self->connection = open_socket(rest, 0); break;
        case 'j': {
            fcntl(self->listener, F_SETFL, O_NONBLOCK);
            int accepted = accept(self->listener, NULL, NULL);
            fcntl(self->listener, F_SETFL, 0);
            digest(self, 20 + (accepted >= 0));
            if (accepted >= 0) self->connection = accepted;
            break;
        }
        case 'a': must((self->connection = accept(self->listener, NULL, NULL)) >= 0, word); break;
        case 'd':
            signal(SIGCHLD, SIG_IGN);
            do must((self->connection = accept(self->listener, NULL, NULL)) >= 0, word);
            while (fork() != 0 && close(self->connection) == 0);
            break;
        case 'L': again = i; break;
        case 's': say(self, rest, strlen(rest)); break;
        case '?': {
            unsigned which = everypath_choose ? everypath_choose(strlen(rest)) : 0;
            say(self, rest + which, 1);
            break;
        }
        case 'r':
        case 'w':
        case 'k':
        case 'o':
            memset(last, 0, sizeof last);
            if (*word == 'o' || *word == 'r')
                setsockopt(self->connection, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
            got = recv(self->connection, last, atoi(rest),
                *word == 'w' ? MSG_WAITALL : *word == 'k' ? MSG_DONTWAIT : 0);
            if (got <= 0) digest(self, got == 0 ? 300 : errno == EAGAIN ? 302 : 301);
            for (ssize_t at = 0; at < got; at++) digest(self, last[at]);
            break;
        case '=': {
            int is_right = strcmp(rest, "!") == 0 ? got < 0 : got >= 0 && strcmp(last, rest) == 0;
            if (!is_right) {
                fprintf(stderr, "received %zd bytes \"%s\" instead of \"%s\"\n", got, last, rest);
                _exit(1);
            }
            break;
        }
        case '+': i += strcmp(last, rest) != 0; break;
        case 'h': shutdown(self->connection, SHUT_WR); break;
        case 'x': close(self->connection); break;
        case 'u': close(self->listener); break;
        case 'v': sem_post(&posted); break;
        case 't': sem_wait(&posted); break;
        case 'f': while (send(self->connection, "f", 1, MSG_NOSIGNAL) == 1) continue; break;
        case 'q': digest(self, 1 + ready(self->connection, -1, atoi(rest), 'q')); break;
        case 'g': {
            int own[2];
            must(pipe(own) == 0, word);
            ready(self->connection, own[0], -1, 'Q');
            break;
        }
        case 'Q':
        case 'E':
        case 'S':
            digest(self, (self->listener < 0 ? 1 : 10)
                + ready(self->connection, self->listener, atoi(rest), *word));
            break;
        case 'b': self->mailbox = open_mailbox(rest); break;
        case '@': self->to = atoi(rest); break;
        case 'O': {
            socklen_t size;
            union address address = place(rest, &size);
            must(connect(self->mailbox, &address.any, size) == 0, word);
            self->to = 0;
            break;
        }
        case 'm': post(self, self->to, rest, strlen(rest)); break;
        case 'M': if (sender) post(self, sender, last, strlen(last)); break;
        case 'e':
        case 'y':
        case 'z': {
            union address from = {0};
            socklen_t size = sizeof from;
            second.tv_sec = *word == 'z';
            memset(last, 0, sizeof last);
            if (*word != 'y')
                setsockopt(self->mailbox, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
            got = recvfrom(self->mailbox, last, atoi(rest), *word == 'y' ? MSG_DONTWAIT : 0,
                &from.any, &size);
            if (got < 0) digest(self, errno == EAGAIN ? 302 : 301);
            if (got >= 0) digest(self, sender = ntohs(from.inet.sin_port));
            for (ssize_t at = 0; at < got; at++) digest(self, last[at]);
            break;
        }
        case 'p': digest(self, 1 + ready(self->mailbox, -1, atoi(rest), 'q')); break;
        case 'P': digest(self, 1 + ready(self->mailbox, self->connection, atoi(rest), 'q')); break;
        case 'X': close(self->mailbox); break;
        case '%': tells = 1; break;
        case 'n': waits = 0; break;
        default: fprintf(stderr, "no operation: %s\n", word); _exit(2);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    sem_init(&posted, 0, 0);
    struct thread threads[8] = {{.words = argv + 1, .connection = -1, .listener = -1, .mailbox = -1}};
    int count = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "/") == 0) threads[count++] = (struct thread){.words = argv + i + 1};
        else threads[count - 1].count++;
    }
    run(&threads[0]);
    for (int i = 1; i < count; i++) {
        threads[i].connection = threads[0].connection;
        threads[i].listener = threads[0].listener;
        threads[i].mailbox = threads[0].mailbox;
        threads[i].to = threads[0].to;
        pthread_create(&threads[i].thread, NULL, run, &threads[i]);
    }
    for (int i = 1; i < count; i++) pthread_join(threads[i].thread, NULL);
    unsigned all = 0;
    for (int i = 0; i < count; i++) all += threads[i].digest;
    return tells ? 1 + all % 97 : 0; // 101 would be a panic
}
