/* An account of 100. */
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int balance;

__attribute__((constructor)) static void open_account(void)
{
	atomic_store(&balance, 100);
}

int racy(int amount)
{
	if (atomic_load(&balance) < amount)
		return 0;
	atomic_fetch_sub(&balance, amount);
	return amount;
}

int locked(int amount)
{
	pthread_mutex_lock(&mutex);
	int got = racy(amount);
	pthread_mutex_unlock(&mutex);
	return got;
}
