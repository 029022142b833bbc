// Uses a gigabyte.
#include <stdlib.h>
#include <string.h>

int main(void)
{
    for (int i = 0; i < 64; i++) {
        char *block = malloc(16 << 20);
        memset(block, 1, 16 << 20);
    }
    return 0;
}
