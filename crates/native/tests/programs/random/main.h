// Runs the script whose number is the argument: the first thread is the main one. What threads have seen
// and left behind makes up the exit code.
static char at_static[32] __attribute__((aligned(16)));

int main(int count, char **arguments) {
    int number = 0;
    if (count < 2) return 254;
    for (const char *digit = arguments[1]; *digit; digit++) number = number * 10 + (*digit - '0');
    const struct script *script = &scripts[number];
    char at_stack[32] __attribute__((aligned(16))) = {0};
    char *at_heap = (char *)calloc(1, 32);
    char *shared = script->home == AT_STATIC ? at_static : script->home == AT_HEAP ? at_heap : at_stack;
    pthread_t threads[3];
    u32 seen[3];
    for (int i = 1; i < script->count; i++) pthread_create(&threads[i], NULL, script->threads[i], shared);
    seen[0] = (u32)(uintptr_t)script->threads[0](shared);
    for (int i = 1; i < script->count; i++) {
        void *result;
        pthread_join(threads[i], &result);
        seen[i] = (u32)(uintptr_t)result;
    }
    u32 sum = 0;
    for (int i = 0; i < 32; i++) sum = sum * 31 + (unsigned char)shared[i];
    for (int i = 0; i < script->count; i++) sum = sum * 31 + seen[i];
    return (int)(sum % 251);
}
