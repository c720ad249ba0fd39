// benchmark.BenchmarkService on nghttp2: h2c on port 8080, TLS on port 8443.

#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

#include "clock.h"
#include "listener.h"
#include "tls.h"
#include "worker.h"

namespace {

/// Calls still open this long after SIGTERM are broken off.
constexpr std::int64_t kStopGrace_ns = 1'000'000'000;

std::string env_or(const char* name, const char* fallback) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : fallback;
}

int port(const char* name, const char* fallback) {
    return std::stoi(env_or(name, fallback));
}

/// Blocks the stop signals in this thread and those it will start; returns a descriptor that is
/// readable when one has come.
int stop_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    const int descriptor = signalfd(-1, &signals, SFD_CLOEXEC);
    if (descriptor < 0) {
        throw std::system_error(errno, std::generic_category(), "signalfd");
    }
    return descriptor;
}

/// Each client is a descriptor: as many as the system lets us have.
void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

std::size_t usable_cpus() {
    cpu_set_t cpus;
    const int count = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
    return static_cast<std::size_t>(std::max(count, 1));
}

/// Gives each client to the worker that has the fewest, until a stop signal comes.
void accept_clients(const Listener& h2c, const Listener& tls, SSL_CTX* context, int stop,
                    std::vector<Worker>& workers) {
    std::array<pollfd, 3> ready{
        {{stop, POLLIN, 0}, {h2c.socket(), POLLIN, 0}, {tls.socket(), POLLIN, 0}}};
    const auto accept_from = [&workers](const Listener& listener, SSL_CTX* with) {
        const int client = listener.accept();
        if (client >= 0) {
            std::min_element(workers.begin(), workers.end(), [](const Worker& a, const Worker& b) {
                return a.load() < b.load();
            })->adopt(client, with);
        }
    };
    while (!(ready[0].revents & POLLIN)) {
        poll(ready.data(), ready.size(), -1);
        if (ready[1].revents) {
            accept_from(h2c, nullptr);
        }
        if (ready[2].revents) {
            accept_from(tls, context);
        }
    }
}

/// Serves until SIGTERM or SIGINT, which end it without an error.
void run() {
    const int stop = stop_signals();
    const TlsContext context = make_tls_context(env_or("TLS_CERT", "/certs/server.crt"),
                                                env_or("TLS_KEY", "/certs/server.key"));
    raise_descriptor_limit();
    std::vector<Worker> workers(usable_cpus());
    {
        const Listener h2c(port("PORT_H2C", "8080"));
        const Listener tls(port("PORT_TLS", "8443"));
        for (Worker& worker : workers) {
            worker.start();
        }
        accept_clients(h2c, tls, context.get(), stop, workers);
    }
    Clock clock;
    clock.read();
    for (Worker& worker : workers) {
        worker.stop(clock.now_ns + kStopGrace_ns);
    }
    for (Worker& worker : workers) {
        worker.join();
    }
    close(stop);
}

}  // namespace

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "nghttp2-grpc: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
