#include "messages.h"

#include <grpc/byte_buffer_reader.h>
#include <grpc/slice.h>

#include "benchmark.pb-c.h"

// Returns a message that protobuf_c_message_free_unpacked frees, or NULL.
static ProtobufCMessage* parse(const ProtobufCMessageDescriptor* type, grpc_byte_buffer** buffer) {
    ProtobufCMessage* message = NULL;
    grpc_byte_buffer_reader reader;
    if (*buffer != NULL && grpc_byte_buffer_reader_init(&reader, *buffer)) {
        const grpc_slice bytes = grpc_byte_buffer_reader_readall(&reader);
        message = protobuf_c_message_unpack(type, NULL, GRPC_SLICE_LENGTH(bytes),
                                            GRPC_SLICE_START_PTR(bytes));
        grpc_slice_unref(bytes);
        grpc_byte_buffer_reader_destroy(&reader);
    }
    grpc_byte_buffer_destroy(*buffer);
    *buffer = NULL;
    return message;
}

bool parse_sum_request(grpc_byte_buffer** buffer, struct request* request) {
    ProtobufCMessage* parsed = parse(&benchmark__sum_request__descriptor, buffer);
    if (parsed == NULL) {
        return false;
    }
    const Benchmark__SumRequest* message = (const Benchmark__SumRequest*)parsed;
    *request = (struct request){.a = message->a, .b = message->b};
    protobuf_c_message_free_unpacked(parsed, NULL);
    return true;
}

bool parse_stream_request(grpc_byte_buffer** buffer, struct request* request) {
    ProtobufCMessage* parsed = parse(&benchmark__stream_request__descriptor, buffer);
    if (parsed == NULL) {
        return false;
    }
    const Benchmark__StreamRequest* message = (const Benchmark__StreamRequest*)parsed;
    *request = (struct request){.a = message->a, .b = message->b, .count = message->count};
    protobuf_c_message_free_unpacked(parsed, NULL);
    return true;
}

grpc_byte_buffer* encode_sum_reply(int32_t result) {
    Benchmark__SumReply reply = BENCHMARK__SUM_REPLY__INIT;
    reply.result = result;
    grpc_slice bytes = grpc_slice_malloc(benchmark__sum_reply__get_packed_size(&reply));
    benchmark__sum_reply__pack(&reply, GRPC_SLICE_START_PTR(bytes));
    grpc_byte_buffer* buffer = grpc_raw_byte_buffer_create(&bytes, 1);
    grpc_slice_unref(bytes);
    return buffer;
}
