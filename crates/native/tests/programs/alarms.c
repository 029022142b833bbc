// Alarms and interval timers.
#include "check.h"
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t count;
static sem_t rung;

static void counts(int number) {
    count += number == SIGALRM;
    sem_post(&rung);
}

static void install(int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = counts;
    action.sa_flags = flags;
    IS(sigaction(SIGALRM, &action, NULL), 0);
}

static void set(long first, long again) {
    struct itimerval timer = {{0, again * 1000}, {0, first * 1000}};
    IS(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

static void once(void) {
    IS(sem_init(&rung, 0, 0), 0);
    install(0);
    set(10, 0);
    while (sem_wait(&rung) != 0) IS(errno, EINTR);
    IS(count, 1);
    struct itimerval none;
    IS(getitimer(ITIMER_REAL, &none), 0);
    CHECK(none.it_value.tv_sec == 0 && none.it_value.tv_usec == 0);
    puts("once");
}

// It may ring early: nothing says how long a thread has to wait for a processor.
static void taken_back(void) {
    struct itimerval left, wrong = {{0, 0}, {0, 1000000}};
    count = 0;
    IS(alarm(100), 0);
    IS(getitimer(ITIMER_REAL, &left), 0);
    CHECK(count || (left.it_value.tv_sec >= 90 && left.it_value.tv_sec <= 100));
    unsigned seconds = alarm(50);
    CHECK(count || seconds == 100);
    seconds = alarm(0);
    CHECK(count || seconds == 50);
    IS(alarm(0), 0);
    FAILS(setitimer(ITIMER_REAL, &wrong, NULL), EINVAL);
    int before = count;
    struct timespec while_ = {0, 20000000};
    IS(nanosleep(&while_, NULL), 0);
    IS(count, before);
    puts("taken back");
}

static void again(void) {
    sigset_t set_, before;
    sigemptyset(&set_);
    sigaddset(&set_, SIGALRM);
    IS(pthread_sigmask(SIG_BLOCK, &set_, &before), 0);
    count = 0;
    set(3, 5);
    while (count < 3) FAILS(sigsuspend(&before), EINTR);
    set(0, 0);
    struct timespec at_once = {0, 0};
    while (sigtimedwait(&set_, NULL, &at_once) == SIGALRM) continue;
    count = 0;
    set(3, 0);
    int number = 0;
    IS(sigwait(&set_, &number), 0);
    IS(number, SIGALRM);
    IS(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    IS(count, 0);
    puts("again");
}

static void *sets(void *unused) {
    set(5, 0);
    return unused;
}

// The alarm belongs to the process, and goes on when the thread that set it has ended.
static void of_all(void) {
    count = 0;
    install(SA_RESTART);
    join(start(sets, NULL));
    while (!count) usleep(1000);
    IS(count, 1);
    puts("of all");
}

int main(void) {
    once();
    taken_back();
    again();
    of_all();
    // It keeps no process alive.
    alarm(1000);
    pthread_exit(NULL);
}
