// One thread waits for a flag, but not for long; another sets it after a sleep. The exit code tells
// whether the flag was seen in time, what the clock showed, and which of two random numbers was
// larger.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int flag;
static unsigned numbers[2];

static void *set(void *unused) {
    (void)unused;
    usleep(2000);
    if (getrandom(&numbers[1], sizeof numbers[1], 0) != sizeof numbers[1]) abort();
    pthread_mutex_lock(&mutex);
    flag = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct timespec start, end;
    clock_gettime(CLOCK_REALTIME, &start);
    pthread_create(&thread, NULL, set, NULL);
    if (getrandom(&numbers[0], sizeof numbers[0], 0) != sizeof numbers[0]) abort();
    struct timespec until = {start.tv_sec, start.tv_nsec + 5000000};
    int late = 0;
    pthread_mutex_lock(&mutex);
    while (!flag && !late) late = pthread_cond_timedwait(&changed, &mutex, &until) == ETIMEDOUT;
    int seen = flag;
    pthread_mutex_unlock(&mutex);
    clock_gettime(CLOCK_REALTIME, &end);
    long passed = (end.tv_nsec - start.tv_nsec) / 1000000;
    pthread_join(thread, NULL);
    return seen * 64 + late * 32 + (numbers[0] < numbers[1]) * 16 + (int)(passed % 16);
}
