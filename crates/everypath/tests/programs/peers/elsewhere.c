// A server that receives on one connection and answers on the next one.
//   elsewhere serve PORT   serves
//   elsewhere ask PORT     asks three times; exits with 1 unless each answer is the right one
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in at = {.sin_family = AF_INET};

static int serve(int s) {
    int on = 1;
    char letter;
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(s, (struct sockaddr *)&at, sizeof at) != 0 || listen(s, 8) != 0) return 2;
    for (;;) {
        int requests = accept(s, NULL, NULL), answers = accept(s, NULL, NULL);
        while (read(requests, &letter, 1) == 1) {
            letter++;
            if (write(answers, &letter, 1) != 1) break;
        }
        close(requests);
        close(answers);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int requests = socket(AF_INET, SOCK_STREAM, 0), answers = socket(AF_INET, SOCK_STREAM, 0);
    at.sin_port = htons((unsigned short)atoi(argv[2]));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (strcmp(argv[1], "serve") == 0) return serve(requests);
    if (connect(requests, (struct sockaddr *)&at, sizeof at) != 0) return 2;
    if (connect(answers, (struct sockaddr *)&at, sizeof at) != 0) return 2;
    for (char letter = 'a'; letter < 'd'; letter++) {
        char answer;
        if (write(requests, &letter, 1) != 1 || read(answers, &answer, 1) != 1) return 2;
        if (answer != letter + 1) return 1;
    }
    return 0;
}
