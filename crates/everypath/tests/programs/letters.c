// Each argument is the script of a thread, a letter for each call. There are two sockets; a capital
// is about the first, a small letter about the second.
// S: send the next letter to it; R: receive and wait, at the second socket only for some time; N:
// receive if there is something; K: look at what is there; P: ask whether there is something; B: ask
// that of both and wait for some time; X: exchange a word and remember what was there.
// What was seen makes up the exit code.
#include <arpa/inet.h>
#include <ctype.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

static int sockets[2], out;
static struct sockaddr_in addresses[2];
static atomic_int words[2];
static unsigned seen[8];
static char **scripts;

static void see(long me, int letter, long count) {
    seen[me] = seen[me] * 7 + (unsigned)(count + 2);
    if (count == 1) seen[me] = seen[me] * 5 + (unsigned)letter;
}

static void *run(void *argument) {
    long me = (long)argument;
    int sent = 0;
    for (const char *p = scripts[me]; *p; p++) {
        int which = islower(*p) ? 1 : 0, from = sockets[which];
        struct pollfd look[2] = {{.fd = sockets[which], .events = POLLIN},
                                 {.fd = sockets[!which], .events = POLLIN}};
        char letter = (char)(me * 16 + sent);
        switch (toupper(*p)) {
        case 'S':
            sent++;
            see(me, 0, sendto(out, &letter, 1, 0, (struct sockaddr *)&addresses[which],
                              sizeof addresses[which]));
            break;
        case 'R': see(me, letter, recv(from, &letter, 1, 0)); break;
        case 'N': see(me, letter, recv(from, &letter, 1, MSG_DONTWAIT)); break;
        case 'K': see(me, letter, recv(from, &letter, 1, MSG_PEEK)); break;
        case 'P': see(me, 0, poll(look, 1, 0)); break;
        case 'B': see(me, 0, poll(look, 2, 1000)); break;
        case 'X': seen[me] = seen[me] * 5 + (unsigned)atomic_exchange(&words[which], (int)me + 1);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[8];
    scripts = argv + 1;
    int count = argc - 1 > 8 ? 8 : argc - 1;
    out = socket(AF_INET, SOCK_DGRAM, 0);
    for (int i = 0; i < 2; i++) {
        socklen_t length = sizeof addresses[i];
        addresses[i].sin_family = AF_INET;
        addresses[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        sockets[i] = socket(AF_INET, SOCK_DGRAM, 0);
        bind(sockets[i], (struct sockaddr *)&addresses[i], length);
        getsockname(sockets[i], (struct sockaddr *)&addresses[i], &length);
    }
    struct timeval patience = {.tv_sec = 1};
    setsockopt(sockets[1], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    for (long i = 0; i < count; i++) pthread_create(&threads[i], NULL, run, (void *)i);
    unsigned sum = 0;
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        sum = sum * 31 + seen[i];
    }
    return (int)(sum % 251);
}
