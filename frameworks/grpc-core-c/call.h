#pragma once

#include <grpc/grpc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call;

// Goes on with a call whose batch of operations is done; `ok` is false if it failed.
typedef void step(struct call* call, bool ok);

struct method {
    const char* path;
    grpc_server_register_method_payload_handling payload;  // whether a call comes with its request
    void (*begin)(struct call* call);
};

// What the calls of one queue share. Only its thread touches it, so there is no lock.
struct lane {
    grpc_server* server;
    grpc_completion_queue* queue;
    size_t calls;
};

// One call, from the wait for it to its status. It is the tag of its only pending batch.
struct call {
    struct lane* lane;
    const struct method* method;
    void* registration;  // of the method; NULL if the call is for a method that there is not
    step* next;

    grpc_call* handle;
    grpc_call_details details;
    grpc_metadata_array metadata;
    gpr_timespec deadline;
    grpc_byte_buffer* request;
    grpc_byte_buffer* reply;
    bool headers_sent;
    int cancelled;

    // Of the methods: a sum, and how many replies are left.
    int32_t sum;
    int32_t left;
};

// Waits for a call, which begins its method.
void wait_for_call(struct lane* lane, const struct method* method, void* registration);

// Each of these starts a batch. The call goes on with `next`, or is over once a status is sent.
void receive(struct call* call, step* next);  // `request` will be NULL at the end of the requests
void reply(struct call* call, int32_t result, uint32_t flags, step* next);
void reply_and_finish(struct call* call, int32_t result);
void finish(struct call* call, grpc_status_code code, const char* why);

// Ends a call without a status: the client has gone, or never came.
void drop(struct call* call);
