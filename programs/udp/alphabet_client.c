// Asks an alphabet server for letters over UDP, in several sessions at once: in each, one thread
// sends digits and another receives the letters that answer them, and checks them.
//
// It is made as if packets were never lost, duplicated or reordered: it waits for as many letters as
// it sent digits. With `unchecked` it takes whatever comes.
#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#define SESSIONS 16

static int sockets[SESSIONS];
static int messages, checked;

static void *produce(void *session) {
    for (int i = 0; i < messages; i++) {
        char digit = (char)('0' + i % 10);
        assert(send(*(int *)session, &digit, 1, 0) == 1);
    }
    return NULL;
}

static void *consume(void *session) {
    for (int i = 0; i < messages; i++) {
        char letter;
        assert(recv(*(int *)session, &letter, 1, 0) == 1);
        assert(!checked || letter == 'a' + i % 10);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t producers[SESSIONS], consumers[SESSIONS];
    int sessions = argc > 3 ? atoi(argv[2]) : 0;
    if (sessions < 1 || sessions > SESSIONS) {
        fputs("usage: alphabet_client PORT SESSIONS MESSAGES [unchecked]\n", stderr);
        return 2;
    }
    messages = atoi(argv[3]);
    checked = argc == 4;
    struct sockaddr_in server = {.sin_family = AF_INET,
                                 .sin_port = htons((unsigned short)atoi(argv[1])),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int i = 0; i < sessions; i++) {
        sockets[i] = socket(AF_INET, SOCK_DGRAM, 0);
        assert(connect(sockets[i], (struct sockaddr *)&server, sizeof server) == 0);
        pthread_create(&producers[i], NULL, produce, &sockets[i]);
        pthread_create(&consumers[i], NULL, consume, &sockets[i]);
    }
    for (int i = 0; i < sessions; i++) {
        pthread_join(producers[i], NULL);
        pthread_join(consumers[i], NULL);
    }
    printf("%d sessions, %d letters each\n", sessions, messages);
    return 0;
}
