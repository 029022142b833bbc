// Does with sockets what its arguments say, a word for each operation. Words after a `/` are a
// thread of their own; those before the first one come first, and what they connected is seen by
// all threads, which begin with the last connection.
//   l7000  listen       c7000  connect      a   accept at the port that was listened on last
//   sTEXT  send         ?TEXT  send one of these characters, by choice
//   r3     receive up to so many bytes      w3  receive exactly so many
//   =TEXT  fail unless this was received last; `=` alone is the end, `=!` an error
//   +TEXT  leave out the next word unless this was received last
//   h      send no more   x  close   u  unlisten   v  post   t  wait   f  send until that fails
//   p      poll           n  do not wait from now on
//   %      in the end, exit with a code that tells what was received
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

__attribute__((weak)) unsigned everypath_choose(unsigned ways);

static sem_t posted;
static int tells;

struct thread {
    char **words;
    int count, connection, listener;
    // What it received: 300 stands for the end, 301 for an error.
    unsigned digest;
    pthread_t thread;
};

static void digest(struct thread *self, unsigned value) {
    self->digest = (self->digest * 31 + value) % 1000003;
}

static struct sockaddr_in port(const char *number) {
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons(atoi(number)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
}

static void must(int succeeded, const char *word) {
    if (!succeeded) {
        fprintf(stderr, "%s failed\n", word);
        _exit(4);
    }
}

static int open_socket(const char *number, int listens) {
    int made = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    struct sockaddr_in address = port(number);
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (listens) {
        must(bind(made, (struct sockaddr *)&address, sizeof address) == 0, "bind");
        must(listen(made, 1) == 0, "listen");
    } else {
        must(connect(made, (struct sockaddr *)&address, sizeof address) == 0, "connect");
    }
    return made;
}

static void *run(void *argument) {
    struct thread *self = argument;
    char last[64] = "";
    ssize_t got = 0;
    for (int i = 0; i < self->count; i++) {
        char *word = self->words[i], *rest = word + 1;
        struct pollfd watched = {.fd = self->connection, .events = POLLIN};
        switch (*word) {
        case 'l': self->listener = open_socket(rest, 1); break;
        case 'c': self->connection = open_socket(rest, 0); break;
        case 'a': must((self->connection = accept(self->listener, NULL, NULL)) >= 0, word); break;
        case 's': send(self->connection, rest, strlen(rest), MSG_NOSIGNAL); break;
        case '?': {
            unsigned which = everypath_choose ? everypath_choose(strlen(rest)) : 0;
            send(self->connection, rest + which, 1, MSG_NOSIGNAL);
            break;
        }
        case 'r':
        case 'w':
            memset(last, 0, sizeof last);
            got = recv(self->connection, last, atoi(rest), *word == 'w' ? MSG_WAITALL : 0);
            if (got <= 0) digest(self, got == 0 ? 300 : 301);
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
        case 'p': poll(&watched, 1, -1); break;
        case '%': tells = 1; break;
        case 'n': fcntl(self->connection, F_SETFL, O_NONBLOCK); break;
        default: fprintf(stderr, "no operation: %s\n", word); _exit(2);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    sem_init(&posted, 0, 0);
    struct thread threads[8] = {{.words = argv + 1}};
    int count = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "/") == 0) threads[count++] = (struct thread){.words = argv + i + 1};
        else threads[count - 1].count++;
    }
    run(&threads[0]);
    for (int i = 1; i < count; i++) {
        threads[i].connection = threads[0].connection;
        threads[i].listener = threads[0].listener;
        pthread_create(&threads[i].thread, NULL, run, &threads[i]);
    }
    for (int i = 1; i < count; i++) pthread_join(threads[i].thread, NULL);
    unsigned all = 0;
    for (int i = 0; i < count; i++) all += threads[i].digest;
    return tells ? 1 + all % 199 : 0;
}
