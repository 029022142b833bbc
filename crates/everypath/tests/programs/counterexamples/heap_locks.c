// Two accounts on the heap, each with a lock; transfers in both directions deadlock. With an argument both
// lock in the same order.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account *one, *other;
static int ordered;

static struct account *new_account(void) {
    struct account *account = malloc(sizeof *account);
    pthread_mutex_init(&account->lock, NULL);
    account->balance = 0;
    return account;
}

static void *forward(void *nothing) {
    pthread_setname_np(pthread_self(), "forward");
    pthread_mutex_lock(&one->lock);
    pthread_mutex_lock(&other->lock);
    pthread_mutex_unlock(&other->lock);
    pthread_mutex_unlock(&one->lock);
    return nothing;
}

static void *backward(void *nothing) {
    struct account *first = ordered ? one : other, *second = ordered ? other : one;
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
    return nothing;
}

int main(int count, char **arguments) {
    (void)arguments;
    ordered = count > 1;
    one = new_account();
    other = new_account();
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, forward, NULL);
    pthread_create(&threads[1], NULL, backward, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
