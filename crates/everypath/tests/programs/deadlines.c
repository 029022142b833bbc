// Each argument is the script of a thread: a letter, the number of an object, and a time in seconds.
// D: wait for a semaphore, P: post it; M: lock a mutex, exchange its word and unlock; L, U: lock and
// unlock without a time; W: wait on a condition with its mutex held; S: signal it; R: receive a byte
// from a socket, s: send one; p: poll the socket; Z: sleep; N: read the clock; X: exchange a word; Y:
// yield. Times are relative and differ, so deadlines depend on when a wait begins. What was seen makes
// up the exit code.
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

static pthread_mutex_t mutexes[2];
static pthread_cond_t conditions[2];
static sem_t semaphores[2];
static atomic_int words[2];
static int sockets[2][2];
static unsigned seen[4];
static pthread_t threads[4];
static struct timespec start;
static char **scripts;

static struct timespec in(int seconds) {
    struct timespec moment;
    clock_gettime(CLOCK_REALTIME, &moment);
    moment.tv_sec += seconds;
    return moment;
}

static unsigned receive(int n, int seconds) {
    struct timeval time = {seconds, 0};
    char byte;
    setsockopt(sockets[n][0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    return recv(sockets[n][0], &byte, 1, 0) == 1;
}

static unsigned does(char what, int n, int seconds, int me) {
    struct timespec moment;
    struct pollfd polled = {sockets[n][0], POLLIN, 0};
    unsigned result = 0;
    switch (what) {
    case 'D': moment = in(seconds); return sem_timedwait(&semaphores[n], &moment) == 0;
    case 'P': sem_post(&semaphores[n]); return 0;
    case 'M':
        moment = in(seconds);
        if (pthread_mutex_timedlock(&mutexes[n], &moment) != 0) return 4;
        result = (unsigned)atomic_exchange(&words[n], me + 1);
        pthread_mutex_unlock(&mutexes[n]);
        return result;
    case 'L': pthread_mutex_lock(&mutexes[n]); return 0;
    case 'U': pthread_mutex_unlock(&mutexes[n]); return 0;
    case 'W':
        pthread_mutex_lock(&mutexes[n]);
        moment = in(seconds);
        result = pthread_cond_timedwait(&conditions[n], &mutexes[n], &moment) == 0;
        pthread_mutex_unlock(&mutexes[n]);
        return result;
    case 'S': pthread_cond_signal(&conditions[n]); return 0;
    case 'R': return receive(n, seconds);
    case 's': send(sockets[n][1], "x", 1, 0); return 0;
    case 'p': return (unsigned)poll(&polled, 1, seconds * 1000);
    case 'Z': moment = (struct timespec){seconds, 0}; nanosleep(&moment, NULL); return 0;
    case 'N': return (unsigned)(in(0).tv_sec - start.tv_sec);
    case 'X': return (unsigned)atomic_exchange(&words[n], me + 1);
    case 'Y': sched_yield(); return 0;
    }
    abort();
}

static void *run(void *argument) {
    int me = (int)(long)argument;
    for (const char *p = scripts[me]; p[0]; p += 3)
        seen[me] = seen[me] * 5 + does(p[0], p[1] - '0', p[2] - '0', me);
    return NULL;
}

int main(int argc, char **argv) {
    scripts = argv + 1;
    int count = argc - 1 > 4 ? 4 : argc - 1;
    clock_gettime(CLOCK_REALTIME, &start);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_init(&mutexes[i], NULL);
        pthread_cond_init(&conditions[i], NULL);
        sem_init(&semaphores[i], 0, 0);
        socketpair(AF_UNIX, SOCK_STREAM, 0, sockets[i]);
    }
    for (long i = 0; i < count; i++) pthread_create(&threads[i], NULL, run, (void *)i);
    unsigned sum = 0;
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        sum = sum * 31 + seen[i];
    }
    return (int)(sum % 251);
}
