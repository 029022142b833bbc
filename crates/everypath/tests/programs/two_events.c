/* Two threads note an event each, the second after the first if `ordered`. */

#include <everypath.h>
#include <pthread.h>
#include <string.h>

static void *second(void *unused) {
    (void)unused;
    everypath_note("{\"event\": \"deliver-ack\", \"actor\": \"sender\"}");
    return NULL;
}

int main(int count, char **words) {
    pthread_t thread;
    const char *how = count > 1 ? words[1] : "";
    if (!strcmp(how, "silent"))
        everypath_note("not an event");
    else if (!strcmp(how, "unknown"))
        everypath_note("{\"event\": \"deliver-dada\"}");
    else if (!strcmp(how, "nameless"))
        everypath_note("{\"actor\": 1}");
    else if (!strcmp(how, "ordered")) {
        everypath_note("{\"event\": \"deliver-data\"}");
        second(NULL);
    } else {
        pthread_create(&thread, NULL, second, NULL);
        everypath_note("{\"event\": \"deliver-data\", \"actor\": 1, \"received\": \"D0\"}");
        pthread_join(thread, NULL);
    }
    return 0;
}
