/* What a C or C++ program can tell Everypath about itself. This file is all there is: nothing has
   to be linked.

   A program that runs by itself has nobody to ask, and all of this does nothing:
   everypath_choose returns 0, everypath_assume and everypath_always return whatever the
   condition. The first call of each looks for the checker; all others cost a load and a branch. */
#ifndef EVERYPATH_H
#define EVERYPATH_H

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function of the checker's; null if there is no checker. It is looked for by name, because
   linkers differ on what becomes of weak symbols. Loads and stores are plain: the checker takes
   read-modify-writes for steps of the program. */
static inline void *everypath_find_(void **known, const char *name) {
    static char nowhere;
    void *found = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (found == NULL) {
        found = dlsym((void *)0, name);
        if (found == NULL) found = &nowhere;
        __atomic_store_n(known, found, __ATOMIC_RELAXED);
    }
    return found == (void *)&nowhere ? NULL : found;
}

/* A number below `ways`, chosen by the checker: it explores every one. 0 without it, and 0 if there
   is nothing to choose from. At most 65,534 ways can be explored. */
static inline unsigned everypath_choose_(unsigned ways) {
    static void *known;
    void *found = everypath_find_(&known, "everypath_choose");
    return found ? ((unsigned (*)(unsigned))found)(ways) : 0;
}

/* Executions in which `condition` does not hold end here and do not count: neither as a violation
   nor as checked. Without the checker the program goes on. */
static inline void everypath_assume_(int condition) {
    static void *known;
    void *found = everypath_find_(&known, "everypath_assume");
    if (found) ((void (*)(int))found)(condition);
}

/* Says that `condition` holds whenever this point is reached; if not, that is a violation, and
   `message` says of what. Without the checker the program goes on. */
static inline void everypath_always_(int condition, const char *message) {
    static void *known;
    void *found = everypath_find_(&known, "everypath_always");
    if (found) ((void (*)(int, const char *, size_t))found)(condition, message, strlen(message));
}

/* Says that `condition` is true in some execution when this point is reached. If it is in none that was
   explored, the verdict lists the message, a literal, as never reached. Executions that an assumption
   abandons do not count. That it is named at all is seen in the program file, in a section. */
static inline void everypath_sometimes_(int condition, const char *goal, size_t length) {
    static void *known;
    void *found = everypath_find_(&known, "everypath_sometimes");
    if (found) ((void (*)(int, const char *, size_t))found)(condition, goal, length);
}

/* Makes `text` a step of the trace. */
static inline void everypath_note_(const char *text) {
    static void *known;
    void *found = everypath_find_(&known, "everypath_note");
    if (found) ((void (*)(const char *, size_t))found)(text, strlen(text));
}

/* Whether the network may lose, duplicate and reorder the datagrams that this thread looks for from
   now on, as far as the options of the checker allow it, which they do from the start. */
static inline void everypath_unreliable_(int on) {
    static void *known;
    void *found = everypath_find_(&known, "everypath_unreliable");
    if (found) ((void (*)(int))found)(on);
}

/* An atomic section: the checker lets no other thread move between begin and end. A call that has
   to wait inside it makes the verdict inconclusive. Sections may be nested. */
static inline void everypath_atomic_begin_(void) {
    static void *known;
    void *found = everypath_find_(&known, "everypath_atomic_begin");
    if (found) ((void (*)(void))found)();
}

static inline void everypath_atomic_end_(void) {
    static void *known;
    void *found = everypath_find_(&known, "everypath_atomic_end");
    if (found) ((void (*)(void))found)();
}

#ifdef __cplusplus
}
#endif

/* The names to use. The functions above have others, so that a program cannot be taken for the
   checker by the search for the checker's functions. */
#define everypath_choose(ways) everypath_choose_(ways)
#define everypath_assume(condition) everypath_assume_(!!(condition))
#define everypath_always(condition, message) everypath_always_(!!(condition), message)
#define everypath_text_(tokens) #tokens
#define everypath_text_of_(tokens) everypath_text_(tokens)
#define everypath_sometimes(condition, message)                                                    \
    do {                                                                                           \
        static const char everypath_goal_[] __attribute__((used, section("everypath_goals"))) =    \
            message " (" __FILE__ ":" everypath_text_of_(__LINE__) ")";                            \
        everypath_sometimes_(!!(condition), everypath_goal_, sizeof everypath_goal_ - 1);          \
    } while (0)
#define everypath_reachable(message) everypath_sometimes(1, message)
#define everypath_note(text) everypath_note_(text)
#define everypath_unreliable(on) everypath_unreliable_(!!(on))
#define everypath_atomic_begin() everypath_atomic_begin_()
#define everypath_atomic_end() everypath_atomic_end_()

#endif
