// Threads that are cancelled: where that is acted on, and what runs then.
#include "check.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>

static sem_t started, never;
static pthread_mutex_t mutex;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int pipes[2], full[2], pair[2], event, timer, polling, listener;
static const struct timespec LONG = {100000, 0};

static void *joins(void *other) {
    sem_post(&started);
    pthread_join((pthread_t)other, NULL);
    return NULL;
}

static void waits_on_semaphore(void) { sem_wait(&never); }

static void waits_on_semaphore_for_long(void) {
    struct timespec until = after(CLOCK_REALTIME, 100000000);
    sem_timedwait(&never, &until);
}

static void unlocks(void *unused) {
    (void)unused;
    // Whoever waits on a condition has its mutex again when it is cancelled.
    IS(pthread_mutex_unlock(&mutex), 0);
}

static void waits_on_condition(void) {
    IS(pthread_mutex_lock(&mutex), 0);
    pthread_cleanup_push(unlocks, NULL);
    for (;;) pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(0);
}

static void waits_on_condition_for_long(void) {
    struct timespec until = after(CLOCK_REALTIME, 100000000);
    IS(pthread_mutex_lock(&mutex), 0);
    pthread_cleanup_push(unlocks, NULL);
    pthread_cond_timedwait(&condition, &mutex, &until);
    pthread_cleanup_pop(1);
}

static void sleeps(void) { nanosleep(&LONG, NULL); }
static void sleeps_seconds(void) { sleep(100000); }
static void sleeps_on_a_clock(void) { clock_nanosleep(CLOCK_MONOTONIC, 0, &LONG, NULL); }

static char byte[1];
static struct iovec part = {byte, 1};
static void reads(void) { (void)!read(pipes[0], byte, 1); }
static void reads_parts(void) { (void)!readv(pipes[0], &part, 1); }
static void writes(void) { (void)!write(full[1], byte, 1); }
static void receives(void) { recv(pair[0], byte, 1, 0); }
static void receives_message(void) {
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    recvmsg(pair[0], &message, 0);
}
static void accepts(void) { accept(listener, NULL, NULL); }
static void reads_event(void) { (void)!read(event, &(uint64_t){0}, 8); }
static void reads_timer(void) { (void)!read(timer, &(uint64_t){0}, 8); }
static void polls(void) { poll(&(struct pollfd){.fd = pipes[0], .events = POLLIN}, 1, -1); }
static void polls_with_mask(void) {
    ppoll(&(struct pollfd){.fd = pipes[0], .events = POLLIN}, 1, NULL, NULL);
}
static void selects(void) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipes[0], &set);
    select(pipes[0] + 1, &set, NULL, NULL, NULL);
}
static void selects_with_mask(void) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipes[0], &set);
    pselect(pipes[0] + 1, &set, NULL, NULL, NULL, NULL);
}
static void waits_for_epoll(void) { epoll_wait(polling, &(struct epoll_event){0}, 1, -1); }
static void waits_for_epoll_with_mask(void) {
    epoll_pwait(polling, &(struct epoll_event){0}, 1, -1, NULL);
}
static void tests(void) {
    for (;;) pthread_testcancel();
}

static const struct {
    const char *name;
    void (*call)(void);
} CALLS[] = {
    {"sem_wait", waits_on_semaphore},
    {"sem_timedwait", waits_on_semaphore_for_long},
    {"pthread_cond_wait", waits_on_condition},
    {"pthread_cond_timedwait", waits_on_condition_for_long},
    {"nanosleep", sleeps},
    {"sleep", sleeps_seconds},
    {"clock_nanosleep", sleeps_on_a_clock},
    {"read", reads},
    {"readv", reads_parts},
    {"write", writes},
    {"recv", receives},
    {"recvmsg", receives_message},
    {"accept", accepts},
    {"eventfd", reads_event},
    {"timerfd", reads_timer},
    {"poll", polls},
    {"ppoll", polls_with_mask},
    {"select", selects},
    {"pselect", selects_with_mask},
    {"epoll_wait", waits_for_epoll},
    {"epoll_pwait", waits_for_epoll_with_mask},
    {"pthread_testcancel", tests},
};

static void *calls(void *which) {
    sem_post(&started);
    // Under control, any time may have passed.
    for (;;) CALLS[(intptr_t)which].call();
    return NULL;
}

static void prepare(void) {
    pthread_mutexattr_t checking;
    pthread_mutexattr_init(&checking);
    pthread_mutexattr_settype(&checking, PTHREAD_MUTEX_ERRORCHECK);
    IS(pthread_mutex_init(&mutex, &checking), 0);
    IS(sem_init(&started, 0, 0), 0);
    IS(sem_init(&never, 0, 0), 0);
    IS(pipe(pipes), 0);
    IS(pipe2(full, O_NONBLOCK), 0);
    while (write(full[1], byte, 1) == 1) {}
    IS(fcntl(full[1], F_SETFL, 0), 0);
    IS(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    CHECK((event = eventfd(0, 0)) >= 0);
    CHECK((timer = timerfd_create(CLOCK_MONOTONIC, 0)) >= 0);
    CHECK((polling = epoll_create1(0)) >= 0);
    struct epoll_event interest = {.events = EPOLLIN};
    IS(epoll_ctl(polling, EPOLL_CTL_ADD, pipes[0], &interest), 0);
    CHECK((listener = socket(AF_INET, SOCK_STREAM, 0)) >= 0);
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    IS(bind(listener, (struct sockaddr *)&any, sizeof any), 0);
    IS(listen(listener, 5), 0);
}

// Each of these is acted on, whether the thread waits already or not.
static void waiting(void) {
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++) {
        pthread_t thread = start(calls, (void *)(intptr_t)i);
        if (i % 2) IS(sem_wait(&started), 0);
        IS(pthread_cancel(thread), 0);
        CHECK(join(thread) == PTHREAD_CANCELED);
        if (!(i % 2)) IS(sem_wait(&started), 0);
        puts(CALLS[i].name);
    }
    // Who is no longer joined by one thread can be joined by another.
    pthread_t target = start(calls, (void *)0);
    pthread_t joining = start(joins, (void *)target);
    IS(sem_wait(&started), 0);
    IS(sem_wait(&started), 0);
    IS(pthread_cancel(joining), 0);
    CHECK(join(joining) == PTHREAD_CANCELED);
    IS(pthread_cancel(target), 0);
    CHECK(join(target) == PTHREAD_CANCELED);
    puts("pthread_join");
}

static char order[16];
static pthread_key_t key;

static void notes(void *letter) { strcat(order, letter); }

static void *leaves(void *unused) {
    IS(pthread_setspecific(key, "k"), 0);
    pthread_cleanup_push(notes, "a");
    pthread_cleanup_push(notes, "b");
    pthread_cleanup_push(notes, "c");
    pthread_cleanup_pop(0);
    IS(sem_post(&started), 0);
    sem_wait(&never);
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(1);
    return unused;
}

static void cleaning(void) {
    IS(pthread_key_create(&key, notes), 0);
    pthread_t thread = start(leaves, NULL);
    IS(sem_wait(&started), 0);
    IS(pthread_cancel(thread), 0);
    // Once is enough.
    IS(pthread_cancel(thread), 0);
    CHECK(join(thread) == PTHREAD_CANCELED);
    printf("cleaning: %s\n", order);
}

static sem_t go;

static void *refuses(void *unused) {
    int old = -1;
    IS(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old), 0);
    IS(old, PTHREAD_CANCEL_ENABLE);
    IS(sem_post(&started), 0);
    IS(sem_wait(&go), 0);
    pthread_testcancel();
    IS(write(pipes[1], "x", 1), 1);
    IS(read(pipes[0], byte, 1), 1);
    IS(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old), 0);
    IS(old, PTHREAD_CANCEL_DISABLE);
    // That was no point; this is one although it need not wait.
    order[0] = 0;
    (void)!write(pipes[1], "x", 1);
    CHECK(!"it is cancelled");
    return unused;
}

static void *asks(void *unused) {
    // Neither locking nor giving back is a point.
    IS(sem_post(&started), 0);
    IS(pthread_mutex_lock(&mutex), 0);
    IS(pthread_mutex_unlock(&mutex), 0);
    strcpy(order, "locked");
    sem_wait(&never);
    return unused;
}

static void refusing(void) {
    IS(sem_init(&go, 0, 0), 0);
    IS(pthread_setcancelstate(7, NULL), EINVAL);
    IS(pthread_setcanceltype(7, NULL), EINVAL);
    pthread_t thread = start(refuses, NULL);
    IS(sem_wait(&started), 0);
    IS(pthread_cancel(thread), 0);
    IS(sem_post(&go), 0);
    CHECK(join(thread) == PTHREAD_CANCELED);
    FAILS(recv(pair[0], byte, 1, MSG_DONTWAIT), EAGAIN);
    IS(pthread_mutex_lock(&mutex), 0);
    thread = start(asks, NULL);
    IS(sem_wait(&started), 0);
    IS(pthread_cancel(thread), 0);
    IS(pthread_mutex_unlock(&mutex), 0);
    CHECK(join(thread) == PTHREAD_CANCELED);
    printf("refusing: %s\n", order);
}

static void *cancels_itself(void *unused) {
    IS(pthread_cancel(pthread_self()), 0);
    strcpy(order, "later");
    pthread_testcancel();
    return unused;
}

static void *cancels_itself_at_once(void *unused) {
    int old = -1;
    IS(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old), 0);
    IS(old, PTHREAD_CANCEL_DEFERRED);
    pthread_cancel(pthread_self());
    CHECK(!"it is cancelled");
    return unused;
}

static void *goes_round(void *unused) {
    IS(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
    IS(sem_post(&started), 0);
    for (;;) sched_yield();
    return unused;
}

static void *ends(void *unused) {
    IS(sem_post(&started), 0);
    return unused;
}

static void oneself(void) {
    CHECK(join(start(cancels_itself, NULL)) == PTHREAD_CANCELED);
    CHECK(join(start(cancels_itself_at_once, NULL)) == PTHREAD_CANCELED);
    pthread_t thread = start(goes_round, NULL);
    IS(sem_wait(&started), 0);
    IS(pthread_cancel(thread), 0);
    CHECK(join(thread) == PTHREAD_CANCELED);
    // A thread without points ends as if nothing had happened, before or after.
    thread = start(ends, order);
    IS(sem_wait(&started), 0);
    IS(pthread_cancel(thread), 0);
    CHECK(join(thread) == order);
    printf("oneself: %s\n", order);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int attempts;

static void initialises(void) {
    if (attempts++ > 0) return;
    IS(sem_post(&started), 0);
    sem_wait(&never);
}

static void *initialises_once(void *unused) {
    IS(pthread_once(&once, initialises), 0);
    return unused;
}

static void *reads_a_line(void *stream) {
    char line[16];
    IS(sem_post(&started), 0);
    (void)!fgets(line, sizeof line, stream);
    return NULL;
}

static void others(void) {
    pthread_t first = start(initialises_once, NULL);
    IS(sem_wait(&started), 0);
    pthread_t second = start(initialises_once, NULL);
    IS(pthread_cancel(first), 0);
    CHECK(join(first) == PTHREAD_CANCELED);
    join(second);
    IS(attempts, 2);
    FILE *stream = fdopen(pipes[0], "r");
    first = start(reads_a_line, stream);
    IS(sem_wait(&started), 0);
    IS(pthread_cancel(first), 0);
    CHECK(join(first) == PTHREAD_CANCELED);
    // The stream is not left locked.
    IS(ftrylockfile(stream), 0);
    funlockfile(stream);
    puts("others");
}

int main(void) {
    prepare();
    waiting();
    cleaning();
    refusing();
    oneself();
    others();
    return 0;
}
