#pragma once

#include <grpc/grpc.h>
#include <stdbool.h>
#include <stdint.h>

struct request {
    int32_t a;
    int32_t b;
    int32_t count;  // of a StreamRequest
};

// Each takes the buffer over and leaves NULL. It returns false if there is none, or no such message
// in it.
bool parse_sum_request(grpc_byte_buffer** buffer, struct request* request);
bool parse_stream_request(grpc_byte_buffer** buffer, struct request* request);

// Returns a SumReply. The buffer is the caller's.
grpc_byte_buffer* encode_sum_reply(int32_t result);
