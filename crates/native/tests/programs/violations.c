// One fault for each argument: what is wrong with each must be found and named.
#include "check.h"
#include <assert.h>
#include <immintrin.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile int flag, zero;
static pthread_t threads[3];

static void *null_pointer(void *nowhere) {
    *(volatile int *)nowhere = 1;
    return nowhere;
}

__attribute__((noinline)) static int too_deep(int depth) {
    volatile char room[4096];
    room[0] = (char)depth;
    return too_deep(depth + 1) + room[0];
}

static void *overflows(void *unused) {
    flag = too_deep(0);
    return unused;
}

static void *jumps(void *unused) {
    void (*volatile nowhere)(void) = (void (*)(void))0x123456789000;
    nowhere();
    return unused;
}

static void *divides(void *unused) {
    flag = 7 / zero;
    return unused;
}

static void *illegal(void *unused) {
    __asm__ volatile("ud2");
    return unused;
}

static void *aborts(void *unused) {
    abort();
    return unused;
}

static void *asserts(void *unused) {
    assert(flag == 7 && "the flag");
    return unused;
}

static void *terminates(void *unused) {
    raise(SIGTERM);
    return unused;
}

static void *left_then_right(void *unused) {
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    return unused;
}

static void *right_then_left(void *unused) {
    pthread_mutex_lock(&right);
    pthread_mutex_lock(&left);
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
    return unused;
}

static void *twice(void *unused) {
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&left);
    return unused;
}

// Looks at the flag without holding what protects it, so the signal may come too early.
static void *loses_the_signal(void *unused) {
    if (!flag) {
        pthread_mutex_lock(&left);
        pthread_cond_wait(&cond, &left);
        pthread_mutex_unlock(&left);
    }
    return unused;
}

static void *signals_once(void *unused) {
    pthread_mutex_lock(&left);
    flag = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&left);
    return unused;
}

static sem_t go;

static void *joins_the_next(void *number) {
    sem_wait(&go);
    return (void *)(long)pthread_join(threads[((long)number + 1) % 3], NULL);
}

static void *yields_for_ever(void *unused) {
    while (!flag) sched_yield();
    return unused;
}

static void *pauses_for_ever(void *unused) {
    while (!flag) _mm_pause();
    return unused;
}

static void *runs_for_ever(void *unused) {
    for (volatile long i = 0;; i = 0) {
    }
    return unused;
}

static void *counts(void *unused) {
    for (volatile long i = 0; i >= 0; i++) {
    }
    return unused;
}

static pthread_mutex_t forks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER};

static void *dines(void *number) {
    long own = (long)number;
    pthread_mutex_lock(&forks[own]);
    pthread_mutex_lock(&forks[(own + 1) % 3]);
    pthread_mutex_unlock(&forks[(own + 1) % 3]);
    pthread_mutex_unlock(&forks[own]);
    return NULL;
}

// Exactly one of three waiters is woken: which one is a matter of the schedule.
static int chosen = -1, asleep;

static void *wants_to_be_woken(void *number) {
    pthread_mutex_lock(&left);
    asleep++;
    while (chosen < 0 && !flag) pthread_cond_wait(&cond, &left);
    if (chosen < 0) chosen = (int)(long)number;
    pthread_mutex_unlock(&left);
    return NULL;
}

static int who_is_woken(void) {
    for (long i = 0; i < 3; i++) threads[i] = start(wants_to_be_woken, (void *)i);
    for (int all = 0; !all; sched_yield()) {
        pthread_mutex_lock(&left);
        all = asleep == 3;
        pthread_mutex_unlock(&left);
    }
    pthread_mutex_lock(&left);
    flag = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&left);
    for (int done = 0; !done; sched_yield()) {
        pthread_mutex_lock(&left);
        done = chosen >= 0;
        pthread_mutex_unlock(&left);
    }
    pthread_cond_broadcast(&cond);
    for (int i = 0; i < 3; i++) join(threads[i]);
    return 10 + chosen;
}

static const struct {
    const char *name;
    void *(*first)(void *);
    void *(*second)(void *);
} faults[] = {
    {"null", null_pointer, NULL},       {"overflow", overflows, NULL},
    {"jump", jumps, NULL},
    {"divide", divides, NULL},          {"illegal", illegal, NULL},
    {"abort", aborts, NULL},            {"assert", asserts, NULL},
    {"terminate", terminates, NULL},    {"opposite", left_then_right, right_then_left},
    {"twice", twice, NULL},             {"lost", loses_the_signal, signals_once},
    {"yield", yields_for_ever, yields_for_ever},
    {"pause", pauses_for_ever, pauses_for_ever},
    {"endless", runs_for_ever, NULL},
    {"counts", counts, NULL},
};

int main(int argc, char **argv) {
    CHECK(argc > 1);
    const char *name = argv[1];
    if (!strcmp(name, "exit")) return 3;
    if (!strcmp(name, "woken")) return who_is_woken();
    if (!strcmp(name, "cycle") || !strcmp(name, "dine")) {
        int cycle = name[0] == 'c';
        IS(sem_init(&go, 0, 0), 0);
        for (long i = 0; i < 3; i++) threads[i] = start(cycle ? joins_the_next : dines, (void *)i);
        for (int i = 0; i < 3; i++) IS(sem_post(&go), 0);
        if (cycle) pthread_exit(NULL);
        for (int i = 0; i < 3; i++) join(threads[i]);
        return 0;
    }
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (strcmp(name, faults[i].name)) continue;
        pthread_t second = faults[i].second ? start(faults[i].second, NULL) : 0;
        pthread_t first = start(faults[i].first, NULL);
        join(first);
        if (second) join(second);
        return 0;
    }
    CHECK(!"an argument names a fault");
}
