// Each argument is the script of a thread: pairs of a letter and a digit. The digit is one of two sockets
// (0 waits, 1 does not) or the listener (2), whose queue has two places. K: connect it; A: accept; C: close
// it; P: look at it; S, R: send and receive without waiting; s: send; H: send no more; N: ask who is on the
// other side; B: give it a name; F: connect somebody else, without waiting; T: connect it, but not for long.
// What was found makes up the exit code.
#define _GNU_SOURCE
#include "script.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int sockets[3];
static struct sockaddr_in home, own;

static int told(int result) {
    if (result >= 0) return 1;
    switch (errno) {
    case EINPROGRESS: return 2;
    case EALREADY: return 3;
    case ECONNREFUSED: return 4;
    case EISCONN: return 5;
    default: return 0;
    }
}

static int looks(int descriptor) {
    struct pollfd entry = {descriptor, POLLIN | POLLOUT, 0};
    poll(&entry, 1, 0);
    return entry.revents % 6;
}

static int uses(char how, int number) {
    struct sockaddr_in name;
    socklen_t length = sizeof name;
    struct timeval soon = {0, 1000};
    char byte;
    int it = sockets[number];
    switch (how) {
    case 'K': return told(connect(it, (struct sockaddr *)&home, sizeof home));
    case 'A': return accept4(sockets[2], NULL, NULL, SOCK_NONBLOCK) >= 0;
    case 'C': return close(it) == 0;
    case 'P': return looks(it);
    case 'S': return told((int)send(it, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL));
    case 's': return told((int)send(it, "x", 1, MSG_NOSIGNAL));
    case 'R': return told((int)recv(it, &byte, 1, MSG_DONTWAIT));
    case 'H': return told(shutdown(it, SHUT_WR));
    case 'N': return told(getpeername(it, (struct sockaddr *)&name, &length));
    case 'B': return told(bind(it, (struct sockaddr *)&own, sizeof own));
    case 'F':
        it = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        return told(connect(it, (struct sockaddr *)&home, sizeof home));
    case 'T':
        setsockopt(it, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
        return told(connect(it, (struct sockaddr *)&home, sizeof home));
    }
    return 0;
}

int main(int argc, char **argv) {
    home.sin_family = AF_INET;
    home.sin_port = htons(7000);
    home.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    own = home;
    own.sin_port = htons(7001);
    for (int i = 0; i < 3; i++)
        sockets[i] = socket(AF_INET, SOCK_STREAM | (i ? SOCK_NONBLOCK : 0), 0);
    if (bind(sockets[2], (struct sockaddr *)&home, sizeof home) != 0) return 250;
    if (listen(sockets[2], 1) != 0) return 250;
    return (int)(play(argc, argv) % 251);
}
