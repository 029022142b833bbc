// Linked in every way there is.
void _start(void) {
    for (;;) {
    }
}
