// Asks an alphabet server for letters, in several sessions at once: in each, one thread sends
// digits and another reads the letters that answer them, and checks them.
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int messages;

struct session {
    int server;
    char *letters;
    pthread_t producer, consumer;
};

static void *produce(void *argument) {
    struct session *session = argument;
    for (int i = 0; i < messages; i++) {
        char digit = '0' + i % 10;
        assert(write(session->server, &digit, 1) == 1);
    }
    return NULL;
}

static void *consume(void *argument) {
    struct session *session = argument;
    for (int i = 0; i < messages; i++) {
        assert(read(session->server, &session->letters[i], 1) == 1);
        assert(session->letters[i] == 'a' + i % 10);
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: alphabet_client PORT SESSIONS MESSAGES\n");
        return 2;
    }
    int count = atoi(argv[2]);
    messages = atoi(argv[3]);
    struct session *sessions = calloc(count, sizeof *sessions);
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(atoi(argv[1])),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    for (struct session *session = sessions; session < sessions + count; session++) {
        session->letters = calloc(messages + 1, 1);
        session->server = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(session->server, (struct sockaddr *)&address, sizeof address) != 0) {
            perror("connect");
            return 1;
        }
        pthread_create(&session->producer, NULL, produce, session);
        pthread_create(&session->consumer, NULL, consume, session);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(sessions[i].producer, NULL);
        pthread_join(sessions[i].consumer, NULL);
        close(sessions[i].server);
        printf("session %d: %s\n", i, sessions[i].letters);
        free(sessions[i].letters);
    }
    free(sessions);
    return 0;
}
