#include "service.h"

#include "messages.h"

// Adds like int32 does in the .proto: wrapping around, which is undefined for C's int.
static int32_t wrapping_sum(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static int32_t sum_of(const struct request* request) {
    return wrapping_sum(request->a, request->b);
}

static void refuse(struct call* call) {
    finish(call, GRPC_STATUS_INTERNAL, "cannot parse the request");
}

// At the end of a call's requests: whether it is not their end, but that of the connection or of a
// message that is cut short.
static bool broken_off(const struct call* call, bool ok) {
    return !ok || grpc_call_failed_before_recv_message(call->handle);
}

static void get_sum(struct call* call) {
    struct request request;
    if (parse_sum_request(&call->request, &request)) {
        reply_and_finish(call, sum_of(&request));
    } else {
        refuse(call);
    }
}

// The next reply is sent when the one before has left for the transport, which holds it back while
// the client's window is closed.
static void stream_next(struct call* call, bool ok) {
    const int32_t result = call->sum;
    call->sum = wrapping_sum(call->sum, 1);
    call->left--;
    if (!ok) {
        drop(call);
    } else if (call->left == 0) {
        reply_and_finish(call, result);
    } else {
        // The headers leave with the first reply; those after it need not leave one by one.
        reply(call, result, call->headers_sent ? GRPC_WRITE_BUFFER_HINT : 0, stream_next);
    }
}

static void stream_sum(struct call* call) {
    struct request request;
    if (parse_stream_request(&call->request, &request)) {
        call->sum = sum_of(&request);
        call->left = request.count > 1 ? request.count : 1;
        stream_next(call, true);
    } else {
        refuse(call);
    }
}

static void collect(struct call* call, bool ok) {
    struct request request;
    if (call->request == NULL) {
        if (broken_off(call, ok)) {
            refuse(call);
        } else {
            reply_and_finish(call, call->sum);
        }
    } else if (parse_sum_request(&call->request, &request)) {
        call->sum = wrapping_sum(call->sum, sum_of(&request));
        receive(call, collect);
    } else {
        refuse(call);
    }
}

static void collect_sum(struct call* call) {
    receive(call, collect);
}

static void echo(struct call* call, bool ok);

static void echo_next(struct call* call, bool ok) {
    if (ok) {
        receive(call, echo);
    } else {
        drop(call);
    }
}

static void echo(struct call* call, bool ok) {
    struct request request;
    if (call->request == NULL && !broken_off(call, ok)) {
        finish(call, GRPC_STATUS_OK, "");
    } else if (parse_sum_request(&call->request, &request)) {
        reply(call, sum_of(&request), 0, echo_next);
    } else {
        refuse(call);
    }
}

static void echo_sum(struct call* call) {
    receive(call, echo);
}

static void unknown(struct call* call) {
    finish(call, GRPC_STATUS_UNIMPLEMENTED, "no such method");
}

const struct method methods[METHODS] = {
    {"/benchmark.BenchmarkService/GetSum", GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, get_sum},
    {"/benchmark.BenchmarkService/StreamSum", GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER,
     stream_sum},
    {"/benchmark.BenchmarkService/CollectSum", GRPC_SRM_PAYLOAD_NONE, collect_sum},
    {"/benchmark.BenchmarkService/EchoSum", GRPC_SRM_PAYLOAD_NONE, echo_sum},
};

const struct method unknown_method = {"", GRPC_SRM_PAYLOAD_NONE, unknown};
