// Threads: their results, ends, names and attributes; keys, cleanup handlers, initialisers.
#include "check.h"
#include <semaphore.h>

static sem_t go;

static void *doubles(void *number) { return (void *)(2 * (long)number); }

static void *waits_to_go(void *result) {
    IS(sem_wait(&go), 0);
    return result;
}

static void joining(void) {
    IS((long)join(start(doubles, (void *)21)), 42);
    IS(sem_init(&go, 0, 0), 0);
    pthread_t thread = start(waits_to_go, (void *)7);
    void *result;
    IS(pthread_tryjoin_np(thread, &result), EBUSY);
    struct timespec until = after(CLOCK_REALTIME, 2);
    IS(pthread_timedjoin_np(thread, &result, &until), ETIMEDOUT);
    CHECK(now_on(CLOCK_REALTIME) >= moment(until));
    until = after(CLOCK_MONOTONIC, 2);
    IS(pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &until), ETIMEDOUT);
    IS(sem_post(&go), 0);
    IS((long)join(thread), 7);
    IS(pthread_join(pthread_self(), NULL), EDEADLK);
    pthread_t detached = start(waits_to_go, NULL);
    IS(pthread_detach(detached), 0);
    IS(pthread_detach(detached), EINVAL);
    IS(pthread_join(detached, NULL), EINVAL);
    IS(sem_post(&go), 0);
    puts("joining");
}

static int cleaned;

static void cleans(void *digit) { cleaned = cleaned * 10 + (int)(long)digit; }

static void exits_deep_inside(int depth) {
    pthread_cleanup_push(cleans, (void *)(long)depth);
    if (depth > 1) exits_deep_inside(depth - 1);
    else pthread_exit((void *)99);
    pthread_cleanup_pop(0);
}

static void *exits(void *unused) {
    pthread_cleanup_push(cleans, (void *)9);
    exits_deep_inside(3);
    pthread_cleanup_pop(0);
    return unused;
}

static void *pops(void *unused) {
    pthread_cleanup_push(cleans, (void *)5);
    pthread_cleanup_push(cleans, (void *)6);
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(0);
    return unused;
}

static void cleanup(void) {
    IS((long)join(start(exits, NULL)), 99);
    IS(cleaned, 1239);
    cleaned = 0;
    join(start(pops, NULL));
    IS(cleaned, 6);
    puts("cleanup");
}

static pthread_key_t first, second;
static int destroyed, again;

// Sets its own value again twice, and another key's once: libc goes round.
static void destroys_first(void *value) {
    CHECK(pthread_getspecific(first) == NULL);
    destroyed += (int)(long)value;
    if (again++ < 2) IS(pthread_setspecific(first, (void *)1), 0);
    if (again == 1) IS(pthread_setspecific(second, (void *)1000), 0);
}

static void destroys_second(void *value) { destroyed += (int)(long)value; }

static void *uses_keys(void *value) {
    CHECK(pthread_getspecific(first) == NULL);
    IS(pthread_setspecific(first, value), 0);
    return pthread_getspecific(first);
}

static void keys(void) {
    IS(pthread_key_create(&first, destroys_first), 0);
    IS(pthread_key_create(&second, destroys_second), 0);
    IS(pthread_setspecific(first, (void *)77), 0);
    IS((long)join(start(uses_keys, (void *)10)), 10);
    IS(destroyed, 10 + 1 + 1 + 1000);
    IS((long)pthread_getspecific(first), 77);
    IS(pthread_key_delete(second), 0);
    IS(pthread_key_delete(second), EINVAL);
    IS(pthread_setspecific(second, (void *)1), EINVAL);
    IS(pthread_key_create(&second, NULL), 0);
    CHECK(pthread_getspecific(second) == NULL);
    IS(pthread_setspecific(first, NULL), 0);
    puts("keys");
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int initialised;

static void initialises(void) {
    sched_yield();
    initialised++;
}

static void *once_only(void *unused) {
    IS(pthread_once(&once, initialises), 0);
    IS(initialised, 1);
    return unused;
}

static __thread int local = 5;
static __thread char block[4096];

static void *has_its_own(void *value) {
    IS(local, 5);
    IS(block[4095], 0);
    local = (int)(long)value;
    memset(block, local, sizeof block);
    sched_yield();
    IS(local, (long)value);
    IS(block[2000], (long)value);
    errno = (int)(long)value;
    sched_yield();
    IS(errno, (long)value);
    return unsetenv("NOTHING") ? NULL : value;
}

static void once_and_locals(void) {
    pthread_t one = start(once_only, NULL), other = start(once_only, NULL);
    join(one);
    join(other);
    one = start(has_its_own, (void *)1);
    other = start(has_its_own, (void *)2);
    join(one);
    join(other);
    IS(local, 5);
    puts("once and locals");
}

static void *is_named(void *unused) {
    char name[16];
    IS(pthread_setname_np(pthread_self(), "worker"), 0);
    IS(pthread_getname_np(pthread_self(), name, sizeof name), 0);
    IS(strcmp(name, "worker"), 0);
    IS(pthread_getname_np(pthread_self(), name, 3), ERANGE);
    IS(pthread_setname_np(pthread_self(), "a name that is too long"), ERANGE);
    return unused;
}

static void *knows_its_attributes(void *detached) {
    pthread_attr_t attributes;
    void *low;
    size_t size;
    int state;
    IS(pthread_getattr_np(pthread_self(), &attributes), 0);
    IS(pthread_attr_getstack(&attributes, &low, &size), 0);
    char here;
    CHECK((char *)low < &here && &here < (char *)low + size && size >= 1 << 16);
    IS(pthread_attr_getdetachstate(&attributes, &state), 0);
    IS(state, detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
    IS(pthread_attr_destroy(&attributes), 0);
    if (detached) IS(sem_post(&go), 0);
    return NULL;
}

static void names_and_attributes(void) {
    join(start(is_named, NULL));
    join(start(knows_its_attributes, NULL));
    knows_its_attributes(NULL);
    pthread_attr_t attributes;
    pthread_t thread;
    int detached;
    IS(pthread_attr_init(&attributes), 0);
    IS(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED), 0);
    IS(pthread_attr_setstacksize(&attributes, 1 << 20), 0);
    IS(pthread_create(&thread, &attributes, knows_its_attributes, &detached), 0);
    IS(sem_wait(&go), 0);
    IS(pthread_join(pthread_self(), NULL), EDEADLK);
    int policy;
    struct sched_param parameters;
    IS(pthread_getschedparam(pthread_self(), &policy, &parameters), 0);
    IS(policy, SCHED_OTHER);
    CHECK(pthread_equal(pthread_self(), pthread_self()));
    puts("names and attributes");
}

// The process goes on without its first thread, whose cleanup handlers run.
static void *survives(void *main_thread) {
    IS(pthread_join(*(pthread_t *)main_thread, NULL), 0);
    IS(cleaned, 8);
    puts("main has ended");
    return NULL;
}

static pthread_t main_thread;

int main(void) {
    joining();
    cleanup();
    keys();
    once_and_locals();
    names_and_attributes();
    main_thread = pthread_self();
    cleaned = 0;
    start(survives, &main_thread);
    pthread_cleanup_push(cleans, (void *)8);
    pthread_exit(NULL);
    pthread_cleanup_pop(0);
}
