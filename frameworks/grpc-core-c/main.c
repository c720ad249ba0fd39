// benchmark.BenchmarkService on gRPC's C-core: h2c on port 8080, TLS on port 8443.

#include <errno.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "ports.h"
#include "service.h"

enum {
    STOP_GRACE_MS = 1000,  // calls still open this long after SIGTERM are broken off
    BREAK_OFF_MS = 500,    // nobody waits longer for that
    MOST_PEM_BYTES = 1 << 20,
};

struct worker {
    struct lane lane;
    void* const* registrations;  // one for each method
    pthread_t thread;
};

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("grpc-core-c: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(EXIT_FAILURE);
}

static const char* env_or(const char* name, const char* fallback) {
    const char* value = getenv(name);
    return value != NULL && *value != '\0' ? value : fallback;
}

static void* allocate(size_t count, size_t size) {
    void* memory = calloc(count, size);
    if (memory == NULL) {
        fail("out of memory");
    }
    return memory;
}

static char* contents(const char* path) {
    FILE* file = fopen(path, "r");
    if (file == NULL) {
        fail("cannot read %s: %s", path, strerror(errno));
    }
    char* text = allocate(MOST_PEM_BYTES + 1, 1);
    fread(text, 1, MOST_PEM_BYTES, file);
    if (ferror(file)) {
        fail("cannot read %s: %s", path, strerror(errno));
    }
    fclose(file);
    return text;
}

static size_t usable_cpus(void) {
    cpu_set_t cpus;
    const int count = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
    return count > 0 ? (size_t)count : 1;
}

static grpc_server_credentials* tls_credentials(const char* chain_path, const char* key_path) {
    char* chain = contents(chain_path);
    char* key = contents(key_path);
    const grpc_ssl_pem_key_cert_pair pair = {.private_key = key, .cert_chain = chain};
    grpc_server_credentials* credentials = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config(
            GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
            grpc_ssl_server_certificate_config_create(NULL, &pair, 1)));
    free(chain);
    free(key);
    return credentials;
}

static bool listen_on(grpc_server* server, const char* port, grpc_server_credentials* credentials) {
    char address[32];
    snprintf(address, sizeof address, "[::]:%s", port);
    const int bound = grpc_server_add_http2_port(server, address, credentials);
    grpc_server_credentials_release(credentials);
    return bound != 0;
}

static void check_port(const char* port) {
    const int error = try_port(atoi(port));
    if (error != 0) {
        fail("cannot listen on port %s: %s", port, strerror(error));
    }
}

static void listen_on_ports(grpc_server* server) {
    const char* chain = env_or("TLS_CERT", "/certs/server.crt");
    const char* key = env_or("TLS_KEY", "/certs/server.key");
    const char* h2c = env_or("PORT_H2C", "8080");
    const char* tls = env_or("PORT_TLS", "8443");
    grpc_server_credentials* credentials = tls_credentials(chain, key);
    check_port(h2c);
    check_port(tls);
    if (!listen_on(server, h2c, grpc_insecure_server_credentials_create())) {
        fail("cannot listen on port %s", h2c);
    }
    if (!listen_on(server, tls, credentials)) {
        fail("cannot load the certificate %s with the key %s", chain, key);
    }
}

static grpc_event next_event(grpc_completion_queue* queue) {
    return grpc_completion_queue_next(queue, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
}

// Serves the calls of one queue until the server has shut down and they are over. Nobody else may
// shut down the queue: gRPC allows no operation on it after that.
static void* serve(void* argument) {
    struct worker* worker = argument;
    struct lane* lane = &worker->lane;
    for (int i = 0; i < METHODS; i++) {
        wait_for_call(lane, &methods[i], worker->registrations[i]);
    }
    wait_for_call(lane, &unknown_method, NULL);
    while (lane->calls > 0) {
        const grpc_event event = next_event(lane->queue);
        struct call* call = event.tag;
        call->next(call, event.success != 0);
    }
    grpc_completion_queue_shutdown(lane->queue);
    while (next_event(lane->queue).type != GRPC_QUEUE_SHUTDOWN) {
    }
    return NULL;
}

static grpc_completion_queue* queue_for_shutdown(void) {
    const grpc_completion_queue_attributes attributes = {
        .version = 1,
        .cq_completion_type = GRPC_CQ_NEXT,
        .cq_polling_type = GRPC_CQ_NON_LISTENING,
    };
    return grpc_completion_queue_create(grpc_completion_queue_factory_lookup(&attributes),
                                        &attributes, NULL);
}

// Whether the queue has an event within this time.
static bool comes_within(grpc_completion_queue* queue, int64_t time_ms) {
    const gpr_timespec end =
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(time_ms, GPR_TIMESPAN));
    return grpc_completion_queue_next(queue, end, NULL).type == GRPC_OP_COMPLETE;
}

static void shut_down(grpc_server* server, grpc_completion_queue* queue) {
    grpc_server_shutdown_and_notify(server, queue, NULL);
    if (comes_within(queue, STOP_GRACE_MS)) {
        return;
    }
    grpc_server_cancel_all_calls(server);
    if (!comes_within(queue, BREAK_OFF_MS)) {
        // A client that reads nothing keeps gRPC from closing its connection.
        quick_exit(EXIT_SUCCESS);
    }
}

int main(void) {
    // gRPC's log tells of clients that break off, and in many lines what is said in one line.
    setenv("GRPC_VERBOSITY", "NONE", 0);
    sigset_t stop_signals;
    sigemptyset(&stop_signals);
    sigaddset(&stop_signals, SIGTERM);
    sigaddset(&stop_signals, SIGINT);
    // Before gRPC starts its threads: they inherit the mask, and sigwait gets every signal.
    pthread_sigmask(SIG_BLOCK, &stop_signals, NULL);

    grpc_init();
    grpc_server* server = grpc_server_create(NULL, NULL);
    grpc_completion_queue* shutdown_queue = queue_for_shutdown();
    grpc_server_register_completion_queue(server, shutdown_queue, NULL);
    void* registrations[METHODS];
    for (int i = 0; i < METHODS; i++) {
        registrations[i] =
            grpc_server_register_method(server, methods[i].path, NULL, methods[i].payload, 0);
    }
    const size_t count = usable_cpus();
    struct worker* workers = allocate(count, sizeof *workers);
    for (size_t i = 0; i < count; i++) {
        grpc_completion_queue* queue = grpc_completion_queue_create_for_next(NULL);
        grpc_server_register_completion_queue(server, queue, NULL);
        workers[i] = (struct worker){{server, queue, 0}, registrations, 0};
    }
    listen_on_ports(server);
    grpc_server_start(server);
    for (size_t i = 0; i < count; i++) {
        if (pthread_create(&workers[i].thread, NULL, serve, &workers[i]) != 0) {
            fail("cannot start a thread");
        }
    }

    int received = 0;
    sigwait(&stop_signals, &received);
    shut_down(server, shutdown_queue);
    for (size_t i = 0; i < count; i++) {
        pthread_join(workers[i].thread, NULL);
    }
    grpc_server_destroy(server);
    for (size_t i = 0; i < count; i++) {
        grpc_completion_queue_destroy(workers[i].lane.queue);
    }
    grpc_completion_queue_destroy(shutdown_queue);
    grpc_shutdown();
    free(workers);
}
