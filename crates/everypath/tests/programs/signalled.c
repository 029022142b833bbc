// Each argument is the script of a thread: pairs of a letter and a digit. SIGUSR1 and SIGALRM are
// blocked to begin with. K: send SIGUSR1 to the process; k: to a thread; W: wait for either and take
// it; D: take it if it is there; S: wait until one was handled; b, u: block and unblock them; A, a:
// set the alarm and take it back; X: exchange a word and remember what was there. What was seen, and
// which thread handled what, makes up the exit code.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_int words[4];
static unsigned seen[8];
static pthread_t threads[8];
static char **scripts;
static sigset_t both, none;
static __thread long me;

static void handle(int signal) { seen[me] = seen[me] * 7 + (signal == SIGUSR1 ? 1 : 2); }

static void alarm_after(long milliseconds) {
    struct itimerval timer = {{0, 0}, {0, milliseconds * 1000}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void *run(void *argument) {
    me = (long)argument;
    for (const char *p = scripts[me]; p[0] && p[1]; p += 2) {
        int n = p[1] - '0', signal = 0;
        struct timespec at_once = {0, 0};
        switch (p[0]) {
        case 'K': kill(getpid(), SIGUSR1); break;
        case 'k': pthread_kill(threads[n], SIGUSR1); break;
        case 'W': sigwait(&both, &signal); seen[me] = seen[me] * 7 + (signal == SIGUSR1 ? 3 : 4); break;
        case 'D': seen[me] = seen[me] * 7 + (sigtimedwait(&both, NULL, &at_once) > 0 ? 5 : 6); break;
        case 'S': sigsuspend(&none); break;
        case 'b': pthread_sigmask(SIG_BLOCK, &both, NULL); break;
        case 'u': pthread_sigmask(SIG_UNBLOCK, &both, NULL); break;
        case 'A': alarm_after(n); break;
        case 'a': alarm_after(0); break;
        case 'X': seen[me] = seen[me] * 5 + (unsigned)atomic_exchange(&words[n], (int)me + 1); break;
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    scripts = argv + 1;
    int count = argc - 1 > 7 ? 7 : argc - 1;
    me = count;
    sigemptyset(&none);
    sigemptyset(&both);
    sigaddset(&both, SIGUSR1);
    sigaddset(&both, SIGALRM);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    pthread_sigmask(SIG_BLOCK, &both, NULL);
    for (long i = 0; i < count; i++) pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    unsigned sum = 0;
    for (int i = 0; i <= count; i++) sum = sum * 31 + seen[i];
    return (int)(sum % 251);
}
