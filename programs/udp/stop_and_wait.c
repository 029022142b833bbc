/* Stop and wait over UDP, as in the model `arq`: data carries a one-bit sequence number, and an
 * acknowledgement announces the number that is expected next. The sender sends again when an old
 * acknowledgement arrives, or none in time. Both note what they do, as events of the model.
 *
 * With `unchecked` the sender takes every acknowledgement for one of the packet that it sent last. */

#include <arpa/inet.h>
#include <everypath.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

static int bound(int port) {
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(port)};
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || (port && bind(fd, (struct sockaddr *)&here, sizeof here))) {
        perror("socket");
        exit(2);
    }
    return fd;
}

/* Notes an event: what was received, if anything, and what is sent, if anything. */
static void event(const char *name, const char *actor, const char *received, const char *sent) {
    char note[160];
    int length = snprintf(note, sizeof note, "{\"event\": \"%s\", \"actor\": \"%s\"", name, actor);
    if (received)
        length += snprintf(note + length, sizeof note - length, ", \"received\": \"%s\"", received);
    if (sent)
        length += snprintf(note + length, sizeof note - length, ", \"sent\": \"%s\"", sent);
    snprintf(note + length, sizeof note - length, "}");
    everypath_note(note);
}

static void receiver(int port) {
    int fd = bound(port), expected = 0;
    for (;;) {
        char data[8] = "", ack[8];
        struct sockaddr_in from;
        socklen_t length = sizeof from;
        if (recvfrom(fd, data, sizeof data, 0, (struct sockaddr *)&from, &length) <= 0)
            exit(2);
        if (atoi(data + 1) == expected)
            expected ^= 1;
        snprintf(ack, sizeof ack, "ACK%d", expected);
        event("deliver-data", "receiver", data, ack);
        sendto(fd, ack, strlen(ack) + 1, 0, (struct sockaddr *)&from, length);
    }
}

static void sender(int port, int turns, int unchecked) {
    int fd = bound(0), sequence = 0;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connect(fd, (struct sockaddr *)&to, sizeof to);
    struct timeval patience = {.tv_sec = 1};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    char data[8] = "D0", ack[8];
    send(fd, data, 3, 0);
    for (; turns; turns--) {
        ssize_t length = recv(fd, ack, sizeof ack, 0);
        if (length > 0 && (unchecked || atoi(ack + 3) != sequence))
            sequence ^= 1;
        snprintf(data, sizeof data, "D%d", sequence);
        if (length > 0)
            event("deliver-ack", "sender", ack, data);
        else
            event("timeout", "sender", NULL, data);
        send(fd, data, 3, 0);
    }
}

int main(int count, char **words) {
    if (count >= 3 && !strcmp(words[1], "receive"))
        receiver(atoi(words[2]));
    else if (count >= 4 && !strcmp(words[1], "send"))
        sender(atoi(words[2]), atoi(words[3]), count > 4 && !strcmp(words[4], "unchecked"));
    else
        fprintf(stderr, "usage: stop_and_wait receive PORT | send PORT TURNS [unchecked]\n");
    return 0;
}
