// Appends one text to another while somebody cuts the first short: its length is asked for and its
// letters are copied under its lock each, but not under one lock for both. With the argument
// `fixed` they are.
#include <assert.h>
#include <pthread.h>
#include <string.h>

struct text {
    pthread_mutex_t lock;
    size_t length;
    char letters[16];
};

static struct text source = {PTHREAD_MUTEX_INITIALIZER, 5, "hello"};
static int fixed;

static size_t length_of(struct text *text) {
    pthread_mutex_lock(&text->lock);
    size_t length = text->length;
    pthread_mutex_unlock(&text->lock);
    return length;
}

static void copy_held(struct text *from, char *to, size_t length) {
    assert(length <= from->length && "copies letters that are gone");
    memcpy(to, from->letters, length);
}

static void append(struct text *to, struct text *from) {
    if (fixed) {
        pthread_mutex_lock(&from->lock);
        copy_held(from, to->letters + to->length, from->length);
        to->length += from->length;
        pthread_mutex_unlock(&from->lock);
        return;
    }
    size_t length = length_of(from);
    pthread_mutex_lock(&from->lock);
    copy_held(from, to->letters + to->length, length);
    pthread_mutex_unlock(&from->lock);
    to->length += length;
}

static void *cut(void *text) {
    struct text *shorter = text;
    pthread_mutex_lock(&shorter->lock);
    shorter->length = 1;
    pthread_mutex_unlock(&shorter->lock);
    return NULL;
}

int main(int argc, char **argv) {
    (void)argv;
    fixed = argc > 1;
    struct text mine = {PTHREAD_MUTEX_INITIALIZER, 2, "> "};
    pthread_t editor;
    pthread_create(&editor, NULL, cut, &source);
    append(&mine, &source);
    pthread_join(editor, NULL);
    return mine.length != 7 && mine.length != 3;
}
