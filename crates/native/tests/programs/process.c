// The process: randomness, clocks, identity, environment, and how it ends.
#include "check.h"
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>

static void *draws(void *bytes) {
    IS(getrandom(bytes, 32, 0), 32);
    return NULL;
}

static void randomness(void) {
    unsigned char one[32] = {0}, other[32] = {0}, third[32] = {0}, nothing[32] = {0};
    IS(getrandom(one, 32, 0), 32);
    IS(getrandom(other, 32, GRND_NONBLOCK), 32);
    IS(getentropy(third, 32), 0);
    CHECK(memcmp(one, other, 32) && memcmp(one, third, 32) && memcmp(other, third, 32));
    CHECK(memcmp(one, nothing, 32));
    IS(getrandom(one, 0, 0), 0);
    unsigned char large[300];
    FAILS(getentropy(large, 257), EIO);
    pthread_t first = start(draws, one), second = start(draws, other);
    join(first);
    join(second);
    CHECK(memcmp(one, other, 32));
    CHECK(arc4random() != arc4random() || arc4random() != arc4random());
    CHECK(arc4random_uniform(10) < 10 && arc4random_uniform(1) == 0);
    srand(7);
    int value = rand();
    srand(7);
    IS(rand(), value);
    puts("randomness");
}

static void clocks(void) {
    clockid_t all[] = {CLOCK_REALTIME,        CLOCK_MONOTONIC,  CLOCK_PROCESS_CPUTIME_ID,
                       CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE,
                       CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME,   CLOCK_TAI};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        long long before = now_on(all[i]);
        for (int k = 0; k < 100; k++) {
            long long now = now_on(all[i]);
            CHECK(now >= before);
            before = now;
        }
        struct timespec resolution;
        IS(clock_getres(all[i], &resolution), 0);
        CHECK(moment(resolution) > 0);
    }
    struct timespec unused;
    FAILS(clock_gettime(99, &unused), EINVAL);
    FAILS(clock_getres(99, &unused), EINVAL);
    struct timeval day;
    IS(gettimeofday(&day, NULL), 0);
    CHECK(llabs(day.tv_sec - (long long)time(NULL)) <= 1);
    CHECK(day.tv_sec > 1500000000);
    puts("clocks");
}

// A sleep takes its time, and under control nothing but it.
static void sleeping(int exactly) {
    struct timespec nap = {0, 3000000}, bad = {0, 1000000000}, left;
    long long before = now_on(CLOCK_MONOTONIC);
    IS(nanosleep(&nap, &left), 0);
    IS(usleep(2000), 0);
    IS(clock_nanosleep(CLOCK_REALTIME, 0, &nap, NULL), 0);
    struct timespec until = after(CLOCK_MONOTONIC, 4);
    IS(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL), 0);
    IS(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL), 0);
    long long slept = now_on(CLOCK_MONOTONIC) - before;
    CHECK(exactly ? slept == 12000000 : slept >= 12000000);
    FAILS(nanosleep(&bad, NULL), EINVAL);
    IS(clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL), EINVAL);
    IS(sleep(0), 0);
    if (exactly) {
        before = now_on(CLOCK_REALTIME);
        IS(sleep(3600), 0);
        IS(now_on(CLOCK_REALTIME) - before, 3600000000000);
    }
    puts("sleeping");
}

static void *sleeps(void *milliseconds) {
    struct timespec nap = {0, (long)milliseconds * 1000000};
    long long before = now_on(CLOCK_MONOTONIC);
    IS(nanosleep(&nap, NULL), 0);
    CHECK(now_on(CLOCK_MONOTONIC) - before >= moment(nap));
    return NULL;
}

static void *tells_its_number(void *unused) {
    CHECK(gettid() != getpid());
    IS(syscall(SYS_gettid), gettid());
    IS(getpid(), syscall(SYS_getpid));
    return (void *)(long)gettid();
}

static void identity(void) {
    CHECK(getpid() > 1 && getppid() > 0);
    IS(gettid(), getpid());
    pthread_t one = start(tells_its_number, NULL), other = start(tells_its_number, NULL);
    CHECK(join(one) != join(other));
    IS(getuid(), syscall(SYS_getuid));
    IS(sched_getcpu() < 0, 0);
    CHECK(sysconf(_SC_PAGESIZE) == 4096 && sysconf(_SC_NPROCESSORS_ONLN) >= 1);
    puts("identity");
}

extern char **environ;

static void environment(void) {
    CHECK(getenv("LD_PRELOAD") == NULL && getenv("LD_BIND_NOW") == NULL);
    for (char **entry = environ; *entry; entry++) CHECK(strncmp(*entry, "LD_", 3) != 0);
    IS(setenv("OWN", "value", 1), 0);
    IS(strcmp(getenv("OWN"), "value"), 0);
    IS(unsetenv("OWN"), 0);
    CHECK(getenv("OWN") == NULL);
    puts("environment");
}

static void first(void) { puts("registered first"); }
static void second(void) { puts("registered second"); }

// The process ends here, not in main, which waits for what never comes.
static void *exits(void *unused) {
    exit(0);
    return unused;
}

int main(int argc, char **argv) {
    (void)argv;
    randomness();
    clocks();
    sleeping(argc > 1);
    pthread_t one = start(sleeps, (void *)3), other = start(sleeps, (void *)2);
    join(one);
    join(other);
    identity();
    environment();
    fprintf(stderr, "to standard error\n");
    IS(atexit(first), 0);
    IS(atexit(second), 0);
    printf("not flushed by the program");
    join(start(exits, NULL));
    pause();
    return 1;
}
