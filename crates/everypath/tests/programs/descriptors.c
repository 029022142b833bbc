// Each argument is the script of a thread: pairs of a letter and a digit, which is a descriptor: 0 of a
// pipe to write, 1 of a socket, 2 of a file that is there, 3 of a file that the program made, 4 of a
// socket to which nobody says anything. C: close it; W: write; R: read; S: go back to the start; D:
// duplicate; F: ask for its flags; N: let it not wait; T: or for some time only; Q: ask what it is; O:
// ask for its buffer; 2: let it become another one. What succeeded, and which bytes were read, makes
// up the exit code.
#define _GNU_SOURCE
#include "script.h"
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static int descriptors[5];

static int uses(char how, int number) {
    int descriptor = descriptors[number];
    char byte = 'x';
    struct stat status;
    struct timeval soon = {0, 1000};
    int size;
    socklen_t length = sizeof size;
    switch (how) {
    case 'C': return close(descriptor) == 0;
    case 'W': return write(descriptor, &byte, 1) == 1;
    case 'R': return read(descriptor, &byte, 1) == 1 ? 1 + (byte & 3) : 0;
    case 'S': return lseek(descriptor, 0, SEEK_SET) >= 0;
    case 'D': return dup(descriptor) >= 0;
    case 'F': return fcntl(descriptor, F_GETFL) >= 0;
    case 'N': return fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0;
    case 'T': return setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon) == 0;
    case 'Q': return fstat(descriptor, &status) == 0;
    case 'O': return getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, &length) == 0;
    case '2': return dup2(descriptors[0], descriptor) >= 0;
    }
    return 0;
}

int main(int argc, char **argv) {
    int ends[2];
    if (pipe(ends) != 0) return 250;
    descriptors[0] = ends[1];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || write(ends[1], "xyz", 3) != 3) return 250;
    descriptors[1] = ends[0];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 250;
    descriptors[4] = ends[0];
    descriptors[2] = open("/etc/passwd", O_RDONLY);
    descriptors[3] = open("made", O_RDWR | O_CREAT, 0600);
    if (write(descriptors[3], "abc", 3) != 3 || lseek(descriptors[3], 0, SEEK_SET) != 0) return 250;
    return (int)(play(argc, argv) % 251);
}
