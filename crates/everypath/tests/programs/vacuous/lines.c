// Counts the lines of standard input.
#include <stdio.h>

int main(void)
{
    char line[100];
    int lines = 0;
    while (fgets(line, sizeof line, stdin))
        lines++;
    printf("%d\n", lines);
    return 0;
}
