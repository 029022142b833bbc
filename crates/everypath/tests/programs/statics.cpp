// Two threads use a static variable, which the first of them initialises. The exit code says who did,
// once for each of them.
#include <thread>

static int initialised_by(int me) {
    struct Once {
        int by;
        explicit Once(int me) : by(me) {}
    };
    static Once once(me);
    return once.by;
}

int main() {
    int seen[2];
    std::thread first([&] { seen[0] = initialised_by(1); });
    std::thread second([&] { seen[1] = initialised_by(2); });
    first.join();
    second.join();
    return seen[0] * 10 + seen[1];
}
