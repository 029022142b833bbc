// Signals that a program sends to itself.
#include "check.h"
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>

static volatile sig_atomic_t count, last, blocked_inside;
static volatile pthread_t handled_by;
static sem_t started, go;

static void counts(int number) {
    sigset_t now;
    sigemptyset(&now);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    blocked_inside = sigismember(&now, number);
    count++;
    last = number;
    handled_by = pthread_self();
}

static void install(int number, void (*handler)(int), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    IS(sigaction(number, &action, NULL), 0);
}

static void raising(void) {
    install(SIGUSR1, counts, 0);
    IS(raise(SIGUSR1), 0);
    CHECK(count == 1 && last == SIGUSR1 && blocked_inside);
    IS(kill(getpid(), SIGUSR1), 0);
    IS(count, 2);
    IS(pthread_kill(pthread_self(), SIGUSR1), 0);
    IS(count, 3);
    IS(syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1), 0);
    IS(count, 4);
    install(SIGUSR1, counts, SA_NODEFER);
    IS(raise(SIGUSR1), 0);
    CHECK(count == 5 && !blocked_inside);
    install(SIGUSR1, counts, SA_RESETHAND);
    IS(raise(SIGUSR1), 0);
    struct sigaction after_reset;
    IS(sigaction(SIGUSR1, NULL, &after_reset), 0);
    CHECK(after_reset.sa_handler == SIG_DFL);
    IS(kill(getpid(), 0), 0);
    FAILS(kill(getpid(), 999), EINVAL);
    IS(pthread_kill(pthread_self(), 999), EINVAL);
    CHECK(signal(SIGUSR2, SIG_IGN) == SIG_DFL);
    IS(raise(SIGUSR2), 0);
    CHECK(signal(SIGUSR2, counts) == SIG_IGN);
    IS(raise(SIGUSR2), 0);
    CHECK(last == SIGUSR2 && count == 7);
    CHECK(signal(SIGUSR2, counts) == counts);
    struct sigaction refused = {.sa_handler = counts};
    FAILS(sigaction(SIGKILL, &refused, NULL), EINVAL);
    puts("raising");
}

static void blocking(void) {
    sigset_t set, old, pending;
    count = 0;
    install(SIGUSR1, counts, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    IS(sigprocmask(SIG_BLOCK, &set, &old), 0);
    CHECK(!sigismember(&old, SIGUSR1));
    IS(raise(SIGUSR1), 0);
    IS(raise(SIGUSR1), 0);
    IS(count, 0);
    IS(sigpending(&pending), 0);
    CHECK(sigismember(&pending, SIGUSR1) && !sigismember(&pending, SIGUSR2));
    IS(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
    // However often it was sent while it was blocked, it comes once.
    IS(count, 1);
    IS(pthread_sigmask(99, &set, NULL), EINVAL);
    FAILS(sigprocmask(99, &set, NULL), EINVAL);
    puts("blocking");
}

static volatile int seen_number, seen_code, seen_sender;

static void looks(int number, siginfo_t *info, void *context) {
    CHECK(context != NULL);
    seen_number = info->si_signo;
    seen_code = info->si_code;
    seen_sender = info->si_pid;
    count += number;
}

static void information(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = looks;
    action.sa_flags = SA_SIGINFO;
    IS(sigaction(SIGUSR2, &action, NULL), 0);
    count = 0;
    IS(kill(getpid(), SIGUSR2), 0);
    CHECK(count == SIGUSR2 && seen_number == SIGUSR2 && seen_code == SI_USER);
    IS(seen_sender, getpid());
    IS(raise(SIGUSR2), 0);
    CHECK(seen_code == SI_TKILL && seen_sender == getpid());
    puts("information");
}

static sigjmp_buf escape;

static void jumps(int number) { siglongjmp(escape, number); }

static void jumping(void) {
    install(SIGUSR1, jumps, 0);
    for (int i = 0; i < 3; i++) {
        int came = sigsetjmp(escape, 1);
        if (came == 0) {
            raise(SIGUSR1);
            CHECK(!"the handler jumps");
        }
        IS(came, SIGUSR1);
        sigset_t now;
        IS(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
        CHECK(!sigismember(&now, SIGUSR1));
    }
    // Out of a fault, which is how some programs probe memory.
    install(SIGSEGV, jumps, 0);
    install(SIGFPE, jumps, 0);
    for (int i = 0; i < 2; i++) {
        int came = sigsetjmp(escape, 1);
        if (came == 0) {
            *(volatile int *)16 = 1;
            CHECK(!"the handler jumps");
        }
        IS(came, SIGSEGV);
    }
    puts("jumping");
}

static void *runs_until_told(void *unused) {
    IS(sem_post(&started), 0);
    while (!count) sched_yield();
    CHECK(pthread_equal(handled_by, pthread_self()));
    return unused;
}

static void *waits_to_go(void *unused) {
    IS(sem_post(&started), 0);
    while (sem_wait(&go) != 0) IS(errno, EINTR);
    return unused;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

// A handler runs while its thread waits for a mutex, and the wait goes on.
static void *waits_for_a_mutex(void *unused) {
    IS(sem_post(&started), 0);
    IS(pthread_mutex_lock(&mutex), 0);
    IS(pthread_mutex_unlock(&mutex), 0);
    return unused;
}

static void *inherits(void *unused) {
    sigset_t now;
    IS(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
    CHECK(sigismember(&now, SIGUSR2) && !sigismember(&now, SIGUSR1));
    return unused;
}

static void other_threads(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    IS(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    join(start(inherits, NULL));
    IS(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
    install(SIGUSR1, counts, 0);
    count = 0;
    IS(sem_init(&started, 0, 0), 0);
    IS(sem_init(&go, 0, 0), 0);
    pthread_t runs = start(runs_until_told, NULL);
    IS(sem_wait(&started), 0);
    IS(pthread_kill(runs, SIGUSR1), 0);
    join(runs);
    IS(count, 1);
    pthread_t waits = start(waits_to_go, NULL);
    IS(sem_wait(&started), 0);
    IS(pthread_kill(waits, SIGUSR1), 0);
    while (count < 2) sched_yield();
    CHECK(pthread_equal(handled_by, waits));
    IS(sem_post(&go), 0);
    join(waits);
    IS(pthread_mutex_lock(&mutex), 0);
    waits = start(waits_for_a_mutex, NULL);
    IS(sem_wait(&started), 0);
    IS(pthread_kill(waits, SIGUSR1), 0);
    while (count < 3) sched_yield();
    CHECK(pthread_equal(handled_by, waits));
    IS(pthread_mutex_unlock(&mutex), 0);
    join(waits);
    puts("other threads");
}

static sigset_t only(int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    return set;
}

static void *takes_one(void *result) {
    sigset_t set = only(SIGUSR1);
    siginfo_t info;
    IS(sem_post(&started), 0);
    IS(sigwaitinfo(&set, &info), SIGUSR1);
    CHECK(info.si_signo == SIGUSR1 && info.si_code == SI_USER && info.si_pid == getpid());
    return result;
}

static void *pauses(void *result) {
    sigset_t set = only(SIGUSR2);
    IS(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    IS(sem_post(&started), 0);
    sigset_t none;
    sigemptyset(&none);
    sigaddset(&none, SIGUSR1);
    // It can only come while it waits.
    FAILS(sigsuspend(&none), EINTR);
    CHECK(pthread_equal(handled_by, pthread_self()));
    sigset_t now;
    IS(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
    CHECK(sigismember(&now, SIGUSR2));
    return result;
}

// Signals that are taken instead of being handled.
static void awaiting(void) {
    sigset_t set = only(SIGUSR1), pending;
    struct timespec at_once = {0, 0}, soon = {0, 1000000}, wrong = {0, -1};
    int number = 0;
    count = 0;
    IS(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    FAILS(sigtimedwait(&set, NULL, &at_once), EAGAIN);
    FAILS(sigtimedwait(&set, NULL, &soon), EAGAIN);
    FAILS(sigtimedwait(&set, NULL, &wrong), EINVAL);
    IS(raise(SIGUSR1), 0);
    IS(sigwait(&set, &number), 0);
    IS(number, SIGUSR1);
    // What everybody blocks waits for whoever wants it.
    IS(kill(getpid(), SIGUSR1), 0);
    IS(sigpending(&pending), 0);
    CHECK(sigismember(&pending, SIGUSR1));
    join(start(takes_one, NULL));
    IS(sem_wait(&started), 0);
    IS(sigpending(&pending), 0);
    CHECK(!sigismember(&pending, SIGUSR1));
    pthread_t takes = start(takes_one, NULL);
    IS(sem_wait(&started), 0);
    IS(kill(getpid(), SIGUSR1), 0);
    join(takes);
    IS(count, 0);
    install(SIGUSR2, counts, 0);
    pthread_t waits = start(pauses, NULL);
    IS(sem_wait(&started), 0);
    IS(pthread_kill(waits, SIGUSR2), 0);
    join(waits);
    IS(count, 1);
    IS(kill(getpid(), SIGUSR1), 0);
    install(SIGUSR1, counts, 0);
    IS(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
    IS(count, 2);
    puts("awaiting");
}

static void *sends_to_all(void *result) {
    IS(kill(getpid(), SIGUSR1), 0);
    return result;
}

// The first thread is asked first.
static void to_the_process(void) {
    install(SIGUSR1, counts, 0);
    count = 0;
    pthread_t sends = start(sends_to_all, NULL);
    while (!count) sched_yield();
    CHECK(pthread_equal(handled_by, pthread_self()));
    join(sends);
    puts("to the process");
}

int main(void) {
    raising();
    blocking();
    information();
    jumping();
    other_threads();
    awaiting();
    to_the_process();
    return 0;
}
