// An alarm that is disarmed or armed anew may have rung before.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t rung, started;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void ring(int signal) {
    (void)signal;
    rung++;
}

static void starts(union sigval value) {
    (void)value;
    __atomic_store_n(&started, 1, __ATOMIC_SEQ_CST);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    signal(SIGALRM, ring);
    if (!strcmp(how, "alarm")) {
        alarm(1);
        alarm(0);
        assert(!rung);
    } else if (!strcmp(how, "setitimer")) {
        struct itimerval once = {{0, 0}, {1, 0}}, none = {{0, 0}, {0, 0}};
        setitimer(ITIMER_REAL, &once, NULL);
        setitimer(ITIMER_REAL, &none, NULL);
        assert(!rung);
    } else if (!strcmp(how, "periodic")) {
        struct itimerval twice = {{1, 0}, {1, 0}}, none = {{0, 0}, {0, 0}};
        setitimer(ITIMER_REAL, &twice, NULL);
        pthread_mutex_lock(&mutex);
        setitimer(ITIMER_REAL, &none, NULL);
        assert(rung < 2);
    } else if (!strcmp(how, "thrice")) {
        struct itimerval often = {{1, 0}, {1, 0}}, none = {{0, 0}, {0, 0}};
        setitimer(ITIMER_REAL, &often, NULL);
        while (rung < 3)
            pause();
        setitimer(ITIMER_REAL, &none, NULL);
    } else if (!strcmp(how, "anew")) {
        alarm(1);
        alarm(5);
        assert(!rung);
    } else if (!strcmp(how, "left")) {
        alarm(5);
        unsigned left = alarm(3);
        assert(left == 5 || rung);
    } else if (!strcmp(how, "posix") || !strcmp(how, "thread")) {
        int by_thread = how[0] == 't';
        struct sigevent event = {.sigev_notify = by_thread ? SIGEV_THREAD : SIGEV_SIGNAL};
        event.sigev_signo = SIGALRM;
        if (by_thread) event.sigev_notify_function = starts;
        timer_t timer;
        assert(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
        struct itimerspec once = {{0, 0}, {1, 0}};
        timer_settime(timer, 0, &once, NULL);
        timer_delete(timer);
        assert(!rung && !started);
    } else {
        alarm(1);
        alarm(0);
        int before = rung;
        alarm(1);
        alarm(0);
        assert(before <= 1 && rung <= before + 1);
    }
    return 0;
}
