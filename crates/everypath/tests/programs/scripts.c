// Each argument is the script of a thread: pairs of a letter and a digit.
// L, U: lock and unlock mutex; T: try it, and give it back; X: exchange a word and remember what
// was there; C: wait on condition (with mutex of the same number held); S, B: signal, broadcast;
// P, V: post and wait for semaphore, of which the last two have one to begin with; v, D: the same
// without waiting, or for some time only; G: look how many there are; [, ]: begin and end an atomic section; ?: choose among so many;
// !: assume that the last thing seen was not this. K: cancel a thread, which is left to a last
// script, that the main thread runs; t: test whether it was cancelled; d: whether it can be (0: yes,
// 1: no), a: and where (0: at points, 1: anywhere). Y: yield, so often; l, u: lock and unlock spin lock;
// o: run an initialiser once, and remember who did. Locks need not be held to be unlocked, nor to wait
// on their condition. What was seen makes up the exit code.
#include "../../../verify/include/everypath.h"
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

static pthread_mutex_t mutexes[4];
static pthread_cond_t conditions[4];
static sem_t semaphores[4];
static pthread_spinlock_t spins[4];
static once_flag once = ONCE_FLAG_INIT;
static unsigned initialised_by;
static thread_local unsigned number;
static atomic_int words[4];
static unsigned seen[8];
static pthread_t threads[8];
static char **scripts;
static struct timespec soon;

static void initialise(void) { initialised_by = number; }

static void *run(void *argument) {
    long me = (long)argument;
    number = (unsigned)me + 1;
    for (const char *p = scripts[me]; p[0] && p[1]; p += 2) {
        int n = p[1] - '0';
        switch (p[0]) {
        case 'L': pthread_mutex_lock(&mutexes[n]); break;
        case 'U': pthread_mutex_unlock(&mutexes[n]); break;
        case 'T':
            seen[me] = seen[me] * 3 + 1;
            if (pthread_mutex_trylock(&mutexes[n]) == 0) {
                seen[me] += 1;
                pthread_mutex_unlock(&mutexes[n]);
            }
            break;
        case 'X': seen[me] = seen[me] * 5 + (unsigned)atomic_exchange(&words[n], (int)me + 1); break;
        case 'C': pthread_cond_wait(&conditions[n], &mutexes[n]); break;
        case 'S': pthread_cond_signal(&conditions[n]); break;
        case 'B': pthread_cond_broadcast(&conditions[n]); break;
        case 'P': sem_post(&semaphores[n]); break;
        case 'V': sem_wait(&semaphores[n]); break;
        case 'v': seen[me] = seen[me] * 3 + (sem_trywait(&semaphores[n]) == 0); break;
        case 'D': seen[me] = seen[me] * 3 + (sem_timedwait(&semaphores[n], &soon) == 0); break;
        case 'G': {
            int units;
            sem_getvalue(&semaphores[n], &units);
            seen[me] = seen[me] * 5 + (unsigned)units;
            break;
        }
        case '[': everypath_atomic_begin(); break;
        case ']': everypath_atomic_end(); break;
        case '?': seen[me] = seen[me] * 5 + everypath_choose((unsigned)n); break;
        case 'Y':
            for (int i = 0; i < n; i++) sched_yield();
            break;
        case 'l': pthread_spin_lock(&spins[n]); break;
        case 'u': pthread_spin_unlock(&spins[n]); break;
        case 'o':
            call_once(&once, initialise);
            seen[me] = seen[me] * 5 + initialised_by;
            break;
        case 'K': pthread_cancel(threads[n]); break;
        case 't': pthread_testcancel(); break;
        case 'd': pthread_setcancelstate(n, NULL); break;
        case 'a': pthread_setcanceltype(n, NULL); break;
        case '!': everypath_assume((int)(seen[me] % 5) != n); break;
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    scripts = argv + 1;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec++;
    int count = argc - 1 > 8 ? 8 : argc - 1;
    int cancels = count > 0 && strchr(scripts[count - 1], 'K') != NULL;
    count -= cancels;
    for (int i = 0; i < 4; i++) {
        pthread_mutex_init(&mutexes[i], NULL);
        pthread_cond_init(&conditions[i], NULL);
        sem_init(&semaphores[i], 0, i / 2);
        pthread_spin_init(&spins[i], PTHREAD_PROCESS_PRIVATE);
    }
    for (long i = 0; i < count; i++) pthread_create(&threads[i], NULL, run, (void *)i);
    if (cancels) run((void *)(long)count);
    unsigned sum = 0;
    for (int i = 0; i < count; i++) {
        void *result;
        pthread_join(threads[i], &result);
        sum = sum * 31 + seen[i] + (result == PTHREAD_CANCELED ? 7 : 0);
    }
    return (int)(sum % 251);
}
