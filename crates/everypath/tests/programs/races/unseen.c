// The search for a byte cannot be copied: how far it reads is known only afterwards.
#include <pthread.h>

static char text[8] = "abc";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static long find_end(const char *at) {
    long count = -1;
    __asm__ volatile("repne scasb" : "+D"(at), "+c"(count) : "a"(0) : "memory");
    return -count - 2;
}

static void *run(void *unused) {
    pthread_mutex_lock(&mutex);
    long length = find_end(text);
    pthread_mutex_unlock(&mutex);
    return length == 3 ? unused : &mutex;
}

int main(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, run, NULL);
    int failed = run(NULL) != NULL;
    pthread_join(thread, &result);
    return failed || result != NULL;
}
