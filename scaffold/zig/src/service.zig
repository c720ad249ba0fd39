//! The four calls, left to fill in: a call that returns an error ends with UNIMPLEMENTED.
//! requests/benchmark.proto says what each returns. Operands and results are unsigned: u32 and +%
//! wrap around as the calls' int32 has to.

const Request = @import("protobuf.zig").Request;

/// TODO: return a + b.
pub fn getSum(_: Request) !u32 {
    return error.Unimplemented;
}

/// TODO: count results, but at least one; the i-th, from 0, is a + b + i. `next` returns one at a
/// time, when HTTP/2 has room for it, and null after the last. @bitCast makes an i32 of the count,
/// which may be negative.
pub const StreamSum = struct {
    pub fn init(_: Request) !StreamSum {
        return error.Unimplemented;
    }

    pub fn next(_: *StreamSum) ?u32 {
        return null;
    }
};

/// TODO: `take` each request, and return the sum of every a and b when the requests have ended.
pub const CollectSum = struct {
    pub fn take(_: *CollectSum, _: Request) !void {
        return error.Unimplemented;
    }

    pub fn result(_: CollectSum) !u32 {
        return error.Unimplemented;
    }
};

/// TODO: return the a + b of one request.
pub fn echoSum(_: Request) !u32 {
    return error.Unimplemented;
}
