/* The same, both threads at a time. */
#define ALTERNATE
#include "locks.c"
