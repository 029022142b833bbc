// What shall happen in some execution: some of it does.
#include "../../../verify/include/everypath.h"
#include <pthread.h>

static int first, second;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *other(void *unused) {
    pthread_mutex_lock(&lock);
    second = 1;
    everypath_sometimes(first == 0, "the other is first");
    pthread_mutex_unlock(&lock);
    return unused;
}

static void unused_function(void) { everypath_reachable("a function that nobody calls"); }

int main(int argc, char **argv) {
    pthread_t thread;
    unsigned way = everypath_choose(3);
    everypath_sometimes(way == 1, "abandoned later");
    everypath_assume(way != 1);
    everypath_sometimes(way == 2, "the third way");
    everypath_sometimes(way == 3, "a fourth way");
    if (way > 3) everypath_reachable("code that is \"dead\"");
    if (argc > 9) unused_function();
    pthread_create(&thread, NULL, other, NULL);
    pthread_mutex_lock(&lock);
    first = 1;
    everypath_sometimes(second == 0, "main is first");
    everypath_sometimes(second == 2, "second is two");
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    everypath_reachable("the end");
    everypath_always(argc == 1, "violated");
    return argv == NULL;
}
