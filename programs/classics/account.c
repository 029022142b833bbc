// A transfer between two accounts, each with a lock of its own, while an auditor adds them up.
// The money is on neither account for a moment, and the auditor may look just then. With the
// argument `fixed` both locks are held from the first booking to the last.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account savings = {PTHREAD_MUTEX_INITIALIZER, 80};
static struct account current = {PTHREAD_MUTEX_INITIALIZER, 20};
static int fixed;

static void *transfer(void *amount) {
    pthread_mutex_lock(&savings.lock);
    savings.balance -= *(int *)amount;
    if (!fixed) pthread_mutex_unlock(&savings.lock);
    pthread_mutex_lock(&current.lock);
    current.balance += *(int *)amount;
    pthread_mutex_unlock(&current.lock);
    if (fixed) pthread_mutex_unlock(&savings.lock);
    return NULL;
}

static int total(void) {
    pthread_mutex_lock(&savings.lock);
    pthread_mutex_lock(&current.lock);
    int sum = savings.balance + current.balance;
    pthread_mutex_unlock(&current.lock);
    pthread_mutex_unlock(&savings.lock);
    return sum;
}

int main(int argc, char **argv) {
    (void)argv;
    fixed = argc > 1;
    int amount = 30;
    pthread_t teller;
    pthread_create(&teller, NULL, transfer, &amount);
    assert(total() == 100);
    pthread_join(teller, NULL);
    return 0;
}
