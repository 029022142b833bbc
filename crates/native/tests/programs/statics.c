/* Static memory is as it was at the start in every execution, whoever has written to it: threads, in
 * an order that differs, signal handlers, and the kernel. */
#include "check.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define PAGE 4096
#define PAGES 8

static char pages[PAGES][PAGE] __attribute__((aligned(PAGE)));
static char initialised[3 * PAGE] __attribute__((aligned(PAGE))) = "as the compiler left it";
/* Calls that the kernel answers write across the border of two pages. */
static char answers[2][2 * PAGE] __attribute__((aligned(PAGE)));
static volatile char handled[PAGE] __attribute__((aligned(PAGE)));
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int turn;

static int is_clear(const volatile char *bytes, int length) {
    for (int i = 0; i < length; i++)
        if (bytes[i]) return 0;
    return 1;
}

static void handle(int signal) { handled[17] = (char)signal; }

static void *work(void *argument) {
    pthread_mutex_lock(&mutex);
    int place = turn++;
    pthread_mutex_unlock(&mutex);
    /* Which page a thread writes to depends on the schedule. */
    memset(pages[(place * 3 + (argument != NULL)) % PAGES], 'x', PAGE);
    return NULL;
}

int main(void) {
    CHECK(is_clear(&pages[0][0], sizeof pages));
    CHECK(strcmp(initialised, "as the compiler left it") == 0);
    CHECK(is_clear(initialised + 64, sizeof initialised - 64));
    CHECK(is_clear(&answers[0][0], sizeof answers));
    CHECK(is_clear(handled, sizeof handled));
    CHECK(turn == 0);
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, i == 1 ? (void *)1 : NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    CHECK(turn == 3);
    initialised[2 * PAGE] = 'y';
    struct stat *status = (struct stat *)(answers[0] + PAGE - 64);
    CHECK(stat("/", status) == 0);
    CHECK(S_ISDIR(status->st_mode));
    struct rlimit *limit = (struct rlimit *)(answers[1] + PAGE - 8);
    CHECK(getrlimit(RLIMIT_NOFILE, limit) == 0);
    CHECK(limit->rlim_max >= limit->rlim_cur);
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    CHECK(handled[17] == SIGUSR1);
    puts("static memory");
    return 0;
}
