// benchmark.BenchmarkService on gRPC for C++: h2c on port 8080, TLS on port 8443.

#include <grpcpp/grpcpp.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "ports.h"
#include "service.h"

namespace {

/// Calls still open this long after SIGTERM are broken off.
constexpr std::chrono::seconds kStopGrace{1};

/// A client that reads nothing keeps gRPC from closing its connection. This long after SIGTERM
/// nobody waits for it.
constexpr std::chrono::milliseconds kStopLimit{1500};

std::string env_or(const char* name, const char* fallback) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : fallback;
}

int port(const char* name, const char* fallback) {
    return std::stoi(env_or(name, fallback));
}

std::string contents(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    if (!file || !(text << file.rdbuf())) {
        throw std::runtime_error("cannot read " + path + ": " +
                                 std::generic_category().message(errno));
    }
    return text.str();
}

std::string address(int port) {
    return "[::]:" + std::to_string(port);
}

/// Listens on both ports; throws std::runtime_error if it cannot.
std::unique_ptr<grpc::Server> start(grpc::Service& service) {
    const std::string chain = env_or("TLS_CERT", "/certs/server.crt");
    const std::string key = env_or("TLS_KEY", "/certs/server.key");
    grpc::SslServerCredentialsOptions certificate;
    certificate.pem_key_cert_pairs.push_back({contents(key), contents(chain)});
    const int h2c = port("PORT_H2C", "8080");
    const int tls = port("PORT_TLS", "8443");
    check_port_is_free(h2c);
    check_port_is_free(tls);

    int h2c_port = 0;  // stays 0 if gRPC cannot listen
    grpc::ServerBuilder builder;
    builder.RegisterService(&service);
    builder.AddListeningPort(address(h2c), grpc::InsecureServerCredentials(), &h2c_port);
    builder.AddListeningPort(address(tls), grpc::SslServerCredentials(certificate));
    std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
    if (h2c_port == 0) {
        throw std::runtime_error("cannot listen on port " + std::to_string(h2c));
    }
    if (!server) {
        throw std::runtime_error("cannot load the certificate " + chain + " with the key " + key);
    }
    return server;
}

/// Serves until SIGTERM or SIGINT, which end it without an error.
void run() {
    sigset_t stop_signals;
    sigemptyset(&stop_signals);
    sigaddset(&stop_signals, SIGTERM);
    sigaddset(&stop_signals, SIGINT);
    // Before gRPC starts its threads: they inherit the mask, and sigwait gets every signal.
    pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);

    BenchmarkService service;
    const std::unique_ptr<grpc::Server> server = start(service);
    int received = 0;
    sigwait(&stop_signals, &received);
    std::thread([] {
        std::this_thread::sleep_for(kStopLimit);
        std::quick_exit(EXIT_SUCCESS);
    }).detach();
    server->Shutdown(std::chrono::system_clock::now() + kStopGrace);
}

}  // namespace

int main() {
    // gRPC's log tells of clients that break off, and in many lines what is said in one below.
    setenv("GRPC_VERBOSITY", "NONE", 0);
    try {
        run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "grpc-cpp: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
