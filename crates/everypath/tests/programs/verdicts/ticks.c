/* A server with a periodic timer, which never ends, and its client. */
#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t kept = PTHREAD_MUTEX_INITIALIZER;
static int is_ready, in_service, ticks;
static const char *how;

static void *tick(void *unused)
{
	for (;;) {
		sleep(1);
		pthread_mutex_lock(&mutex);
		ticks++;
		/* The third one comes before the server is ready. */
		if (!strcmp(how, "third") && ticks == 3 && !is_ready)
			_exit(3);
		if (!strcmp(how, "service") && in_service)
			_exit(4);
		if (!strcmp(how, "later") && ticks == 70)
			_exit(5);
		pthread_mutex_unlock(&mutex);
		if (!strcmp(how, "log"))
			printf("tick\n"), fflush(stdout);
	}
	return unused;
}

static void *waits(void *unused)
{
	pthread_mutex_lock(&kept);
	return unused;
}

static void set(int *variable, int value)
{
	pthread_mutex_lock(&mutex);
	*variable = value;
	pthread_mutex_unlock(&mutex);
}

static int serve(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(29781) };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	assert(bind(listener, (void *)&address, sizeof address) == 0 && listen(listener, 5) == 0);
	pthread_t thread;
	pthread_create(&thread, 0, tick, 0);
	if (!strcmp(how, "deadlock")) {
		pthread_mutex_lock(&kept);
		pthread_create(&thread, 0, waits, 0);
	}
	set(&is_ready, 1);
	for (;;) {
		int connection = accept(listener, 0, 0);
		char byte;
		while (read(connection, &byte, 1) == 1) {
			if (!strcmp(how, "service"))
				set(&in_service, 1);
			assert(write(connection, &byte, 1) == 1);
			if (!strcmp(how, "service"))
				set(&in_service, 0);
		}
		close(connection);
	}
}

static int ask(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(29781) };
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int connection = socket(AF_INET, SOCK_STREAM, 0);
	char byte = 'x';
	assert(connect(connection, (void *)&address, sizeof address) == 0);
	assert(write(connection, &byte, 1) == 1 && read(connection, &byte, 1) == 1 && byte == 'x');
	return 0;
}

/* No server: that time passes is all that it waits for. */
static int count(void)
{
	for (int i = 0; i < 1000; i++)
		usleep(100000);
	return 7;
}

int main(int argc, char **argv)
{
	how = argv[argc - 1];
	if (!strcmp(how, "client"))
		return ask();
	return strcmp(how, "count") ? serve() : count();
}
