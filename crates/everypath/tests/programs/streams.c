// Each argument is the script of a thread: pairs of a letter and a digit. There are two streams; a
// capital is about the first, a small letter about the second.
// W: write so many bytes; R: read at most so many; A: read exactly so many; N: read if there is
// something; K: look at the first bytes; P: ask whether there is something; D: end the stream;
// X, x: exchange a word and remember what was there. What was seen makes up the exit code.
#include <ctype.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>

static int streams[2][2];
static atomic_int words[2];
static unsigned seen[8];
static char **scripts;

static void see(long me, const char *bytes, long count) {
    seen[me] = seen[me] * 7 + (unsigned)(count + 2);
    for (long i = 0; i < count; i++) seen[me] = seen[me] * 5 + (unsigned)bytes[i];
}

static void *run(void *argument) {
    long me = (long)argument;
    for (const char *p = scripts[me]; p[0] && p[1]; p += 2) {
        int which = islower(p[0]) ? 1 : 0, n = p[1] - '0';
        int to = streams[which][0], from = streams[which][1];
        struct pollfd look = {.fd = from, .events = POLLIN};
        char bytes[16];
        memset(bytes, (int)me + 1, sizeof bytes);
        switch (toupper(p[0])) {
        case 'W': see(me, bytes, send(to, bytes, (size_t)n, MSG_NOSIGNAL)); break;
        case 'R': see(me, bytes, recv(from, bytes, (size_t)n, 0)); break;
        case 'A': see(me, bytes, recv(from, bytes, (size_t)n, MSG_WAITALL)); break;
        case 'N': see(me, bytes, recv(from, bytes, (size_t)n, MSG_DONTWAIT)); break;
        case 'K': see(me, bytes, recv(from, bytes, (size_t)n, MSG_PEEK)); break;
        case 'P': see(me, bytes, poll(&look, 1, 0)); break;
        case 'D': see(me, bytes, shutdown(to, SHUT_WR)); break;
        case 'X': seen[me] = seen[me] * 5 + (unsigned)atomic_exchange(&words[which], (int)me + 1);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[8];
    scripts = argv + 1;
    int count = argc - 1 > 8 ? 8 : argc - 1;
    for (int i = 0; i < 2; i++) socketpair(AF_UNIX, SOCK_STREAM, 0, streams[i]);
    for (long i = 0; i < count; i++) pthread_create(&threads[i], NULL, run, (void *)i);
    unsigned sum = 0;
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        sum = sum * 31 + seen[i];
    }
    return (int)(sum % 251);
}
