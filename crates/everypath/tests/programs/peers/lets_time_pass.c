// Lets time pass in some way while a peer takes its time; exits with 1 if it sees its answer.
//   lets_time_pass PORT block|datagram   receives for ever
//   lets_time_pass PORT sleep            sleeps for three seconds, then looks without waiting
//   lets_time_pass PORT alarm            receives for ever, but for an alarm after three seconds
//   lets_time_pass PORT timeout          receives for three seconds (SO_RCVTIMEO)
//   lets_time_pass PORT short            receives for a tenth of a second
//   lets_time_pass PORT look             looks once, without waiting
//   lets_time_pass PORT serve            accepts a client, and reads two messages
//   lets_time_pass PORT twice            receives the answer, and once more for ever
#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static void ring(int signal) { (void)signal; }

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    const char *how = argv[2];
    int is_datagram = strcmp(how, "datagram") == 0;
    int s = socket(AF_INET, is_datagram ? SOCK_DGRAM : SOCK_STREAM, 0), on = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    char answer[8];
    if (strcmp(how, "serve") == 0) {
        setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(s, (struct sockaddr *)&at, sizeof at) != 0 || listen(s, 1) != 0) return 2;
        int client = accept(s, NULL, NULL);
        for (int i = 0; i < 2; i++)
            if (read(client, answer, 1) != 1) return 3;
        return *answer == 'b';
    }
    if (connect(s, (struct sockaddr *)&at, sizeof at) != 0 || write(s, "x", 1) != 1) return 2;
    if (strcmp(how, "look") == 0) return recv(s, answer, 1, MSG_DONTWAIT) == 1;
    if (strcmp(how, "sleep") == 0) {
        sleep(3);
        return recv(s, answer, 1, MSG_DONTWAIT) == 1;
    }
    if (strcmp(how, "alarm") == 0) {
        struct sigaction action = {.sa_handler = ring};
        sigaction(SIGALRM, &action, NULL);
        alarm(3);
    }
    struct timeval time = {.tv_sec = 3};
    if (strcmp(how, "short") == 0) time = (struct timeval){.tv_usec = 100000};
    if (strcmp(how, "short") == 0 || strcmp(how, "timeout") == 0)
        setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    if (strcmp(how, "twice") == 0 && recv(s, answer, 1, 0) != 1) return 3;
    return recv(s, answer, 1, 0) == 1;
}
