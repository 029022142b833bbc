// Whether answers of an alphabet server, one letter to each number, are found late.
//   late PORT nothing   `poll` without waiting finds nothing
//   late PORT first     of two answers, `poll` finds the first only; `second`, `both` likewise
//   late PORT old       a receive times out, and the next one gets the answer to the first request
//   late PORT alarm     an alarm interrupts a receive
//   late PORT blocked   blocking receives find something else than one answer each
//   late PORT often     `poll` finds nothing four times
// Exits with 1 if so.
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int dial(int port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(s, (struct sockaddr *)&at, sizeof at) != 0) exit(2);
    return s;
}

static int asks(int s, const char *number) { return write(s, number, strlen(number)) < 0; }

static void ring(int signal) { (void)signal; }

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int port = atoi(argv[1]), one = dial(port);
    const char *what = argv[2];
    char letter[4] = "";
    asks(one, "0");
    if (strcmp(what, "nothing") == 0) return poll(&(struct pollfd){one, POLLIN, 0}, 1, 0) == 0;
    if (strcmp(what, "often") == 0) {
        for (int looks = 0; looks < 4; looks++)
            if (poll(&(struct pollfd){one, POLLIN, 0}, 1, 10) > 0) return 0;
        return 1;
    }
    if (strcmp(what, "old") == 0) {
        struct timeval second = {.tv_sec = 1};
        setsockopt(one, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
        if (recv(one, letter, 1, 0) == 1) return 0;
        asks(one, "1");
        return recv(one, letter, 1, 0) == 1 && *letter == 'a';
    }
    if (strcmp(what, "alarm") == 0) {
        struct sigaction action = {.sa_handler = ring};
        sigaction(SIGALRM, &action, NULL);
        alarm(3);
        return recv(one, letter, 1, 0) < 0 && errno == EINTR;
    }
    if (strcmp(what, "blocked") == 0) {
        for (int i = 0; i < 3; i++) {
            if (recv(one, letter, sizeof letter, 0) != 1) return 1;
            if (i < 2) asks(one, "1");
        }
        return 0;
    }
    int two = dial(port);
    asks(two, "0");
    struct pollfd both[2] = {{one, POLLIN, 0}, {two, POLLIN, 0}};
    poll(both, 2, -1);
    int found = (both[0].revents != 0) + 2 * (both[1].revents != 0);
    return found == (strcmp(what, "first") == 0 ? 1 : strcmp(what, "second") == 0 ? 2 : 3);
}
