// Each argument is the script of a thread: pairs of a letter and a digit. A program says what a pair does
// by `uses`, which returns what was found: a number below 8.
#ifndef SCRIPT_H
#define SCRIPT_H
#include <pthread.h>

static int uses(char how, int number);

static unsigned seen[8];
static char **scripts;

static void *run(void *argument) {
    long me = (long)argument;
    for (const char *p = scripts[me]; p[0] && p[1]; p += 2)
        seen[me] = seen[me] * 8 + (unsigned)uses(p[0], p[1] - '0');
    return NULL;
}

// Runs all scripts and returns what was found in all of them.
static unsigned play(int argc, char **argv) {
    pthread_t threads[8];
    int count = argc - 1 > 8 ? 8 : argc - 1;
    scripts = argv + 1;
    for (long i = 0; i < count; i++) pthread_create(&threads[i], NULL, run, (void *)i);
    unsigned sum = 0;
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        sum = sum * 31 + seen[i];
    }
    return sum;
}
#endif
