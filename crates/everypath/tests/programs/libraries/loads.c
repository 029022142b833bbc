/* Loads libraries while it runs: two threads call a function of one of them. */
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int (*withdraw)(int);
static int paid[2];

static void *take(void *number)
{
	*(int *)number = withdraw(70);
	return 0;
}

static void *load(const char *path, const char *name)
{
	void *library = dlopen(path, RTLD_NOW);
	if (!library)
		fprintf(stderr, "%s\n", dlerror());
	assert(library);
	return dlsym(library, name);
}

int main(int argc, char **argv)
{
	/* What is not there cannot be loaded, and that is known. */
	assert(!dlopen("./absent.so", RTLD_NOW) && strstr(dlerror(), "absent.so"));
	if (!strcmp(argv[1], "deep"))
		dlopen("./other.so", RTLD_NOW | RTLD_DEEPBIND);
	withdraw = load("./account.so", argv[argc - 1]);
	int (*more)(void) = load("./other.so", "number");
	assert(withdraw && more() == 42);
	/* Once more: it is there. */
	assert(dlopen("./account.so", RTLD_NOW | RTLD_NOLOAD));
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, take, &paid[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	assert(paid[0] + paid[1] <= 100);
	return 0;
}
