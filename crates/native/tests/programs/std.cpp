// C++'s standard library: threads, locks, futures, exceptions, atomics that wait.
#include "check.h"
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <numeric>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static void locks() {
    std::mutex mutex;
    std::recursive_mutex recursive;
    std::timed_mutex timed;
    std::shared_mutex shared;
    std::shared_timed_mutex shared_timed;
    int count = 0, pair[2] = {0, 0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++) {
        threads.emplace_back([&] {
            for (int k = 0; k < 2; k++) {
                std::lock_guard guard(mutex);
                int seen = count;
                std::this_thread::yield();
                count = seen + 1;
            }
        });
        threads.emplace_back([&] {
            std::unique_lock writing(shared);
            pair[0]++;
            std::this_thread::yield();
            pair[1]++;
        });
    }
    threads.emplace_back([&] {
        std::shared_lock reading(shared);
        CHECK(pair[0] == pair[1]);
    });
    for (auto &thread : threads) thread.join();
    CHECK(count == 4 && pair[0] == 2 && pair[1] == 2);
    {
        std::scoped_lock both(mutex, recursive, timed);
        recursive.lock();
        recursive.unlock();
        std::thread([&] {
            CHECK(!mutex.try_lock() && !recursive.try_lock());
            auto before = std::chrono::steady_clock::now();
            CHECK(!timed.try_lock_for(2ms));
            CHECK(std::chrono::steady_clock::now() - before >= 2ms);
            CHECK(!timed.try_lock_until(std::chrono::system_clock::now() + 2ms));
        }).join();
    }
    std::shared_lock reading(shared_timed);
    std::thread([&] { CHECK(!shared_timed.try_lock_for(2ms) && shared_timed.try_lock_shared());
                      shared_timed.unlock_shared(); }).join();
    puts("locks");
}

static void conditions() {
    std::mutex mutex;
    std::condition_variable condition;
    std::condition_variable_any any;
    bool ready = false;
    int woken = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&] {
            std::unique_lock lock(mutex);
            condition.wait(lock, [&] { return ready; });
            woken++;
        });
    {
        std::lock_guard guard(mutex);
        ready = true;
    }
    condition.notify_all();
    for (auto &thread : threads) thread.join();
    CHECK(woken == 2);
    std::unique_lock lock(mutex);
    CHECK(condition.wait_for(lock, 2ms) == std::cv_status::timeout);
    CHECK(!condition.wait_until(lock, std::chrono::system_clock::now() + 2ms, [] { return false; }));
    CHECK(any.wait_for(lock, 2ms) == std::cv_status::timeout);
    puts("conditions");
}

static void futures() {
    std::promise<int> promise;
    auto future = promise.get_future();
    CHECK(future.wait_for(2ms) == std::future_status::timeout);
    std::thread setter([&] { promise.set_value(5); });
    CHECK(future.get() == 5);
    setter.join();
    auto async = std::async(std::launch::async, [] { return std::string("result"); });
    CHECK(async.get() == "result");
    auto deferred = std::async(std::launch::deferred, [] { return std::this_thread::get_id(); });
    CHECK(deferred.get() == std::this_thread::get_id());
    auto failing = std::async(std::launch::async, []() -> int { throw std::runtime_error("thrown"); });
    try {
        failing.get();
        CHECK(!"it throws");
    } catch (const std::runtime_error &error) {
        CHECK(std::string(error.what()) == "thrown");
    }
    std::future<int> broken;
    {
        std::promise<int> forgotten;
        broken = forgotten.get_future();
    }
    try {
        broken.get();
        CHECK(!"it throws");
    } catch (const std::future_error &error) {
        CHECK(error.code() == std::future_errc::broken_promise);
    }
    std::packaged_task<int(int)> task([](int number) { return 2 * number; });
    auto doubled = task.get_future();
    std::thread(std::move(task), 4).join();
    CHECK(doubled.get() == 8);
    puts("futures");
}

struct Counted {
    static inline std::atomic<int> alive{0};
    Counted() { alive++; }
    ~Counted() { alive--; }
};

[[gnu::noinline]] static void throws(int depth) {
    Counted counted;
    if (depth == 0) throw std::out_of_range("deep");
    throws(depth - 1);
}

static void exceptions() {
    auto catches = [] {
        for (int i = 0; i < 3; i++) {
            try {
                throws(5);
                CHECK(!"it throws");
            } catch (const std::logic_error &error) {
                CHECK(std::string(error.what()) == "deep");
                std::this_thread::yield();
                try {
                    throw;
                } catch (const std::out_of_range &) {
                }
            }
        }
    };
    std::thread one(catches), other(catches);
    one.join();
    other.join();
    CHECK(Counted::alive == 0);
    // An initialiser that throws has not initialised: the next one does.
    std::once_flag flag;
    int attempts = 0, done = 0;
    auto initialise = [&] {
        try {
            std::call_once(flag, [&] {
                if (attempts++ == 0) throw std::runtime_error("not yet");
                std::this_thread::yield();
                done++;
            });
        } catch (const std::runtime_error &) {
        }
    };
    std::thread a(initialise), b(initialise);
    a.join();
    b.join();
    CHECK(attempts == 2 && done == 1);
    initialise();
    CHECK(attempts == 2);
    puts("exceptions");
}

static std::atomic<int> constructed{0}, destroyed{0};

struct Local {
    int value = 3;
    Local() { constructed++; }
    ~Local() { destroyed++; }
};

static thread_local Local local;

static Local &initialised_once() {
    static Local only;
    return only;
}

static void locals() {
    auto uses = [] {
        CHECK(local.value == 3);
        local.value = 4;
        std::this_thread::yield();
        CHECK(local.value == 4);
    };
    std::thread one(uses), other(uses);
    one.join();
    other.join();
    CHECK(constructed == 2 && destroyed == 2);
    std::thread a([] { initialised_once(); }), b([] { initialised_once(); });
    a.join();
    b.join();
    CHECK(constructed == 3);
    // Destructors run on the way out of pthread_exit too.
    std::thread([] {
        Counted counted;
        CHECK(Counted::alive == 1);
        pthread_exit(nullptr);
    }).join();
    CHECK(Counted::alive == 0);
    puts("locals");
}

static void atomics() {
    std::atomic<int> word{0}, sum{0};
    std::atomic_flag flag = ATOMIC_FLAG_INIT;
    std::thread waiter([&] {
        word.wait(0);
        CHECK(word == 1);
        flag.wait(false);
    });
    word = 1;
    word.notify_one();
    flag.test_and_set();
    flag.notify_all();
    waiter.join();
    std::latch latch(2);
    std::barrier barrier(2, [&]() noexcept { sum += 10; });
    std::counting_semaphore<4> semaphore(0);
    std::thread worker([&] {
        latch.count_down();
        barrier.arrive_and_wait();
        barrier.arrive_and_wait();
        semaphore.release(2);
    });
    latch.arrive_and_wait();
    barrier.arrive_and_wait();
    barrier.arrive_and_wait();
    semaphore.acquire();
    semaphore.acquire();
    CHECK(!semaphore.try_acquire());
    worker.join();
    CHECK(sum == 20);
    std::jthread stoppable([](std::stop_token token) {
        while (!token.stop_requested()) std::this_thread::yield();
    });
    stoppable.request_stop();
    stoppable.join();
    puts("atomics");
}

int main() {
    locks();
    conditions();
    futures();
    exceptions();
    locals();
    atomics();
    return 0;
}
