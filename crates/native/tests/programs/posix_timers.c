// The timers of timer_create.
#include "check.h"
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t count, values;
static sem_t rung;

static void counts(int number, siginfo_t *info, void *unused) {
    (void)unused;
    count += number == SIGUSR1 && info->si_code == SI_TIMER;
    values += info->si_value.sival_int;
    sem_post(&rung);
}

static timer_t made(int how, int value) {
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = how;
    event.sigev_signo = SIGUSR1;
    event.sigev_value.sival_int = value;
    if (how == SIGEV_THREAD_ID) event._sigev_un._tid = syscall(SYS_gettid);
    timer_t timer;
    IS(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    return timer;
}

static void set(timer_t timer, long first, long again) {
    struct itimerspec times = {{0, again * 1000000}, {0, first * 1000000}};
    IS(timer_settime(timer, 0, &times, NULL), 0);
}

static void await(void) {
    while (sem_wait(&rung) != 0) IS(errno, EINTR);
}

static void by_signal(int how) {
    count = values = 0;
    timer_t timer = made(how, 7);
    set(timer, 5, 0);
    await();
    CHECK(count == 1 && values == 7);
    struct itimerspec left;
    IS(timer_gettime(timer, &left), 0);
    CHECK(left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0);
    set(timer, 5, 5);
    for (int i = 0; i < 3; i++) await();
    IS(timer_delete(timer), 0);
    CHECK(count >= 4 && values == 7 * count);
    while (sem_trywait(&rung) == 0) continue;
    FAILS(timer_delete(timer), EINVAL);
    puts("by signal");
}

// Two timers with one signal are both heard.
static void both(void) {
    sigset_t set_, before;
    sigemptyset(&set_);
    sigaddset(&set_, SIGUSR1);
    IS(pthread_sigmask(SIG_BLOCK, &set_, &before), 0);
    timer_t one = made(SIGEV_SIGNAL, 1), other = made(SIGEV_SIGNAL, 2);
    set(one, 3, 0);
    set(other, 3, 0);
    siginfo_t info;
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        IS(sigwaitinfo(&set_, &info), SIGUSR1);
        IS(info.si_code, SI_TIMER);
        sum += info.si_value.sival_int;
    }
    IS(sum, 3);
    IS(timer_delete(one), 0);
    IS(timer_delete(other), 0);
    IS(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    puts("both");
}

static void in_thread(union sigval value) {
    values += value.sival_int;
    sem_post(&rung);
}

static void by_thread(void) {
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = in_thread;
    event.sigev_value.sival_int = 5;
    timer_t timer;
    values = 0;
    IS(timer_create(CLOCK_REALTIME, &event, &timer), 0);
    set(timer, 5, 0);
    await();
    IS(values, 5);
    IS(timer_delete(timer), 0);
    puts("by thread");
}

static void not_at_all(void) {
    timer_t timer = made(SIGEV_NONE, 0);
    struct timespec now;
    IS(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    struct itimerspec times = {{0, 0}, {now.tv_sec + 1000, 0}}, left;
    IS(timer_settime(timer, TIMER_ABSTIME, &times, NULL), 0);
    IS(timer_gettime(timer, &left), 0);
    CHECK(left.it_value.tv_sec > 900 && left.it_value.tv_sec <= 1000);
    set(timer, 5, 0);
    struct timespec while_ = {0, 20000000};
    IS(nanosleep(&while_, NULL), 0);
    IS(timer_gettime(timer, &left), 0);
    CHECK(left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0);
    IS(timer_getoverrun(timer), 0);
    IS(timer_delete(timer), 0);
    puts("not at all");
}

static void wrong(void) {
    timer_t timer;
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_signo = 1000;
    FAILS(timer_create(CLOCK_MONOTONIC, &event, &timer), EINVAL);
    FAILS(timer_create(99, NULL, &timer), EINVAL);
    FAILS(timer_create(CLOCK_MONOTONIC_COARSE, NULL, &timer), EOPNOTSUPP);
    timer = made(SIGEV_SIGNAL, 0);
    struct itimerspec times = {{0, 0}, {0, 1000000000}};
    FAILS(timer_settime(timer, 0, &times, NULL), EINVAL);
    IS(timer_delete(timer), 0);
    FAILS(timer_gettime(timer, &times), EINVAL);
    puts("wrong");
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = counts;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    IS(sigaction(SIGUSR1, &action, NULL), 0);
    IS(sem_init(&rung, 0, 0), 0);
    by_signal(SIGEV_SIGNAL);
    by_signal(SIGEV_THREAD_ID);
    both();
    by_thread();
    not_at_all();
    wrong();
    return 0;
}
