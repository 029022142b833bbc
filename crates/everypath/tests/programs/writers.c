// Two threads write a word each to standard output and, in the same order, to out.txt. With the
// argument "sorted" the second one waits for the first. The second word is in data/word.txt, if that
// is there; with "remove" the file is removed, with "outside" another one is written elsewhere.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *say(void *word) {
    pthread_mutex_lock(&lock);
    FILE *file = fopen("out.txt", "a");
    fprintf(file, "%s\n", (char *)word);
    fclose(file);
    printf("%s\n", (char *)word);
    fflush(stdout);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    char word[64] = "two";
    FILE *file = fopen("data/word.txt", "r");
    if (file != NULL) {
        if (fscanf(file, "%63s", word) != 1) return 9;
        fclose(file);
    }
    if (strcmp(how, "remove") == 0) unlink("data/word.txt");
    if (strcmp(how, "outside") == 0) {
        file = fopen("/tmp/never-there", "w");
        fputs("elsewhere", file);
        fclose(file);
    }
    pthread_t first, second;
    pthread_create(&first, NULL, say, "one");
    if (strcmp(how, "sorted") == 0) pthread_join(first, NULL);
    pthread_create(&second, NULL, say, word);
    if (strcmp(how, "sorted") != 0) pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
