// [alone]: calls a function of libc of whose memory accesses nothing is known, in one of two threads or alone.
#include <pthread.h>
#include <string.h>

static void *divide(void *unused) {
    char words[] = "one two", *left;
    strtok_r(words, " ", &left);
    return unused;
}

int main(int argc, char **argv) {
    pthread_t thread;
    if (argc > 1)
        return divide(argv[0]) == NULL;
    pthread_create(&thread, NULL, divide, NULL);
    return pthread_join(thread, NULL);
}
