/* Linked with a library by a relative path. */
#include <assert.h>
#include <pthread.h>

int racy(int amount);
int locked(int amount);
static int paid[2];

static void *take(void *number)
{
	*(int *)number = *(int *)number ? racy(70) : locked(70);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++) {
		paid[i] = argc - 1;
		pthread_create(&threads[i], 0, take, &paid[i]);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	assert(paid[0] + paid[1] <= 100);
	return argv == 0;
}
