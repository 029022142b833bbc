// insists PORT HOW: asks again whenever no answer comes for 200 milliseconds, which it knows by poll,
// by an option of its socket or by an alarm.
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

static void wake(int signal) { (void)signal; }

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    at.sin_port = htons((unsigned short)atoi(argv[1]));
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    connect(s, (struct sockaddr *)&at, sizeof at);
    struct timeval patience = {.tv_usec = 200000};
    struct itimerval alarm = {.it_value = patience};
    struct sigaction action = {.sa_handler = wake};
    if (strcmp(argv[2], "option") == 0)
        setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (strcmp(argv[2], "alarm") == 0) sigaction(SIGALRM, &action, NULL);
    for (;;) {
        char letter;
        send(s, "1", 1, 0);
        if (strcmp(argv[2], "alarm") == 0) setitimer(ITIMER_REAL, &alarm, NULL);
        if (strcmp(argv[2], "poll") == 0) {
            struct pollfd answer = {.fd = s, .events = POLLIN};
            if (poll(&answer, 1, 200) == 0) continue;
        }
        if (recv(s, &letter, 1, 0) == 1) return letter != 'b';
    }
}
