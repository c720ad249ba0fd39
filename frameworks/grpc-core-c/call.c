#include "call.h"

#include <stdlib.h>

#include "messages.h"

struct batch {
    grpc_op ops[4];
    size_t size;
};

static grpc_op* add(struct batch* batch, grpc_op_type type) {
    grpc_op* op = &batch->ops[batch->size++];
    op->op = type;
    return op;
}

static void add_headers(struct batch* batch, struct call* call) {
    if (!call->headers_sent) {
        add(batch, GRPC_OP_SEND_INITIAL_METADATA);
        call->headers_sent = true;
    }
}

static void add_reply(struct batch* batch, struct call* call, int32_t result, uint32_t flags) {
    grpc_byte_buffer_destroy(call->reply);
    call->reply = encode_sum_reply(result);
    grpc_op* op = add(batch, GRPC_OP_SEND_MESSAGE);
    op->flags = flags;
    op->data.send_message.send_message = call->reply;
}

static void add_status(struct batch* batch, struct call* call, grpc_status_code code,
                       grpc_slice* why) {
    grpc_op* status = add(batch, GRPC_OP_SEND_STATUS_FROM_SERVER);
    status->data.send_status_from_server.status = code;
    status->data.send_status_from_server.status_details = why;
    add(batch, GRPC_OP_RECV_CLOSE_ON_SERVER)->data.recv_close_on_server.cancelled =
        &call->cancelled;
}

static void start(struct call* call, const struct batch* batch, step* next) {
    call->next = next;
    if (grpc_call_start_batch(call->handle, batch->ops, batch->size, call, NULL) != GRPC_CALL_OK) {
        abort();  // not a batch that gRPC allows
    }
}

static void release(struct call* call, bool ok) {
    (void)ok;
    drop(call);
}

static void arrived(struct call* call, bool ok) {
    if (!ok) {
        drop(call);  // the server shuts down
        return;
    }
    wait_for_call(call->lane, call->method, call->registration);
    call->method->begin(call);
}

void wait_for_call(struct lane* lane, const struct method* method, void* registration) {
    struct call* call = calloc(1, sizeof *call);
    if (call == NULL) {
        abort();
    }
    call->lane = lane;
    call->method = method;
    call->registration = registration;
    call->next = arrived;
    grpc_call_details_init(&call->details);
    grpc_metadata_array_init(&call->metadata);
    lane->calls++;
    if (registration == NULL) {
        grpc_server_request_call(lane->server, &call->handle, &call->details, &call->metadata,
                                 lane->queue, lane->queue, call);
    } else {
        const bool comes_with_request = method->payload != GRPC_SRM_PAYLOAD_NONE;
        grpc_server_request_registered_call(
            lane->server, registration, &call->handle, &call->deadline, &call->metadata,
            comes_with_request ? &call->request : NULL, lane->queue, lane->queue, call);
    }
}

void receive(struct call* call, step* next) {
    struct batch batch = {0};
    add(&batch, GRPC_OP_RECV_MESSAGE)->data.recv_message.recv_message = &call->request;
    start(call, &batch, next);
}

void reply(struct call* call, int32_t result, uint32_t flags, step* next) {
    struct batch batch = {0};
    add_headers(&batch, call);
    add_reply(&batch, call, result, flags);
    start(call, &batch, next);
}

void reply_and_finish(struct call* call, int32_t result) {
    struct batch batch = {0};
    add_headers(&batch, call);
    add_reply(&batch, call, result, 0);
    add_status(&batch, call, GRPC_STATUS_OK, NULL);
    start(call, &batch, release);
}

void finish(struct call* call, grpc_status_code code, const char* why) {
    grpc_slice details = grpc_slice_from_static_string(why);
    struct batch batch = {0};
    add_headers(&batch, call);
    add_status(&batch, call, code, &details);
    start(call, &batch, release);
}

void drop(struct call* call) {
    grpc_byte_buffer_destroy(call->request);
    grpc_byte_buffer_destroy(call->reply);
    grpc_metadata_array_destroy(&call->metadata);
    grpc_call_details_destroy(&call->details);
    if (call->handle != NULL) {
        grpc_call_unref(call->handle);
    }
    call->lane->calls--;
    free(call);
}
