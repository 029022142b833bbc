// race | string | right: threads print into a buffer. race: one prints while the other reads what is printed;
// string: one prints a string while the other writes it. right: every kind of argument, in registers and on the
// stack, prints what it prints without threads.
#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char printed[128], string[16] = "before";

static void *print(void *format) {
    snprintf(printed, sizeof printed, format, string, 7);
    return NULL;
}

static void *read_it(void *unused) {
    char copy[sizeof printed];
    memcpy(copy, printed, sizeof copy);
    assert(copy[0] == 0 || strlen(copy) == strlen("before 7"));
    return unused;
}

static void *write_it(void *unused) {
    memcpy(string, "after!", 7);
    return unused;
}

static int by_list(char *to, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int length = vsprintf(to, format, list);
    va_end(list);
    return length;
}

static void *everything(void *to) {
    int count = 0;
    int length = sprintf(to, "%d|%5s|%.2f|%Lg|%*d|%.*s|%c|%lld|%x|%p|%s|%g%n|%%|%hhd|%e", 1, "two", 3.0,
                         4.0L, 4, 5, 3, "sixty", '7', 8LL, 9u, (void *)0, "eleven", 12.5, &count, 13, 14.0);
    assert(count > 0 && count < length);
    by_list((char *)to + length, "%s %f %s", "a", 1.5, "b");
    return to;
}

int main(int argc, char **argv) {
    pthread_t one, other;
    static char first[256], second[256], alone[256];
    int is_right = argc < 2 || !strcmp(argv[1], "right");
    if (is_right) {
        everything(alone);
        pthread_create(&one, NULL, everything, first);
        pthread_create(&other, NULL, everything, second);
    } else {
        pthread_create(&one, NULL, print, "%s %d");
        pthread_create(&other, NULL, strcmp(argv[1], "race") ? write_it : read_it, NULL);
    }
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(!strcmp(first, alone) && !strcmp(second, alone));
    fprintf(stdout, "%s\n", first);
    printf("%s %d %f\n", second, argc, 0.5);
    return 0;
}
