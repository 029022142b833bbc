// Each argument is the script of a thread: pairs of a letter and a digit, which names a file that is not
// there to begin with. c: make it; o: open it; s, a: ask whether it is there; u: remove it; r: give it
// the next name; m: make it a directory; l: count what is there; U: let nobody else use new files; M:
// make it, and ask who may use it. What succeeded makes up the exit code.
#include "script.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>


static int entries(void) {
    int count = 0;
    DIR *here = opendir(".");
    for (struct dirent *entry; (entry = readdir(here));) count += !strncmp(entry->d_name, "new", 3);
    closedir(here);
    return count;
}

static int is_opened(const char *name, int flags) {
    int descriptor = open(name, flags, 0600);
    return descriptor >= 0 && close(descriptor) == 0;
}

static int uses(char how, int number) {
    char name[8], next[8];
    struct stat status;
    snprintf(name, sizeof name, "new%d", number % 10);
    snprintf(next, sizeof next, "new%d", (number + 1) % 10);
    switch (how) {
    case 'c': return is_opened(name, O_WRONLY | O_CREAT | O_EXCL);
    case 'o': return is_opened(name, O_RDONLY);
    case 's': return stat(name, &status) == 0;
    case 'a': return access(name, F_OK) == 0;
    case 'u': return unlink(name) == 0;
    case 'r': return rename(name, next) == 0;
    case 'm': return mkdir(name, 0700) == 0;
    case 'l': return entries();
    case 'U': umask(077); return 0;
    case 'M': {
        int descriptor = open(name, O_WRONLY | O_CREAT, 0666);
        fstat(descriptor, &status);
        close(descriptor);
        return (int)(status.st_mode >> 3 & 7);
    }
    }
    return 0;
}

int main(int argc, char **argv) {
    umask(022);
    return (int)(play(argc, argv) % 251);
}
