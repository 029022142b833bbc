// Exceptions that nobody catches.
#include <cstring>
#include <stdexcept>
#include <thread>

static void destructor_throws() noexcept { throw std::runtime_error("not allowed"); }

int main(int argc, char **argv) {
    auto throws = [] { throw std::runtime_error("not caught"); };
    if (argc > 1 && !strcmp(argv[1], "main")) throws();
    if (argc > 1 && !strcmp(argv[1], "thread")) std::thread(throws).join();
    if (argc > 1 && !strcmp(argv[1], "noexcept")) std::thread(destructor_throws).join();
    if (argc > 1 && !strcmp(argv[1], "joinable")) std::thread thread([] {});
    return 0;
}
