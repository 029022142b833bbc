// Two transfers in opposite directions, each of which locks the giving account first: a deadlock.
// With the argument `fixed` the account with the lower number is locked first.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int balances[2] = {50, 50};
static int fixed;

static void transfer(int from, int to, int amount) {
    int first = fixed && to < from ? to : from;
    pthread_mutex_lock(&locks[first]);
    pthread_mutex_lock(&locks[1 - first]);
    balances[from] -= amount;
    balances[to] += amount;
    pthread_mutex_unlock(&locks[1 - first]);
    pthread_mutex_unlock(&locks[first]);
}

static void *back(void *unused) {
    (void)unused;
    transfer(1, 0, 20);
    return NULL;
}

int main(int argc, char **argv) {
    (void)argv;
    fixed = argc > 1;
    pthread_t other;
    pthread_create(&other, NULL, back, NULL);
    transfer(0, 1, 10);
    pthread_join(other, NULL);
    assert(balances[0] == 60 && balances[1] == 40);
    return 0;
}
