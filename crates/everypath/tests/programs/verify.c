// What a program can tell the checker, a case for each argument. By itself it ends with code 0.
#include "../../../verify/include/everypath.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int money = 2, goods;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *the_case;

static int is(const char *name) { return strcmp(the_case, name) == 0; }

// One coin for one piece of goods: in between, something is missing.
static void *buy(void *section) {
    if (section) everypath_atomic_begin();
    everypath_note("pays");
    atomic_exchange(&money, 1);
    atomic_exchange(&goods, 1);
    if (section) everypath_atomic_end();
    return NULL;
}

static void *waits_inside(void *unused) {
    (void)unused;
    everypath_atomic_begin();
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    everypath_atomic_end();
    return NULL;
}

static void *ends_inside(void *unused) {
    (void)unused;
    everypath_atomic_begin();
    return NULL;
}

static void *spins_inside(void *unused) {
    everypath_atomic_begin();
    while (money == 2) sched_yield();
    everypath_atomic_end();
    return unused;
}

static void spend(void) { atomic_exchange(&money, 1); }

static void *does_nothing(void *unused) { return unused; }

static void with(void *(*function)(void *), void *argument, void (*meanwhile)(void)) {
    pthread_t thread;
    pthread_create(&thread, NULL, function, argument);
    meanwhile();
    pthread_join(thread, NULL);
}

// A plain load would not be seen as a step.
static int look(atomic_int *at) {
    int seen = -1;
    atomic_compare_exchange_strong(at, &seen, -1);
    return seen;
}

static void count(void) {
    int paid = 2 - look(&money), got = look(&goods);
    everypath_always(paid <= got, "paid for what is not there");
}

static void hold(void) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

static void nothing(void) {}

static int code_of_choices(void) {
    unsigned first = everypath_choose(3), second = everypath_choose(first + 1);
    return (int)(first * 10 + second);
}

__attribute__((constructor)) static void early(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "early") == 0) everypath_choose(2);
}

int main(int argc, char **argv) {
    the_case = argc > 1 ? argv[1] : "";
    if (is("choose")) return code_of_choices();
    if (is("choose-many")) everypath_choose(70000);
    if (is("always")) everypath_always(everypath_choose(100) != 42, "forty-two \xff");
    if (is("assume")) everypath_assume(everypath_choose(10) >= 10 || money != 2);
    if (is("some")) {
        everypath_assume(everypath_choose(4) != 2);
        puts("assumed");
    }
    if (is("sections")) with(buy, &money, count);
    if (is("no-sections")) with(buy, NULL, count);
    if (is("waits-inside")) with(waits_inside, NULL, hold);
    if (is("spins-inside")) with(spins_inside, NULL, spend);
    if (is("ends-inside")) with(ends_inside, NULL, nothing);
    if (is("ends-nothing")) everypath_atomic_end();
    if (is("nested")) {
        everypath_atomic_begin();
        everypath_atomic_begin();
        everypath_atomic_end();
        with(does_nothing, NULL, everypath_atomic_end_);
    }
    return 0;
}
