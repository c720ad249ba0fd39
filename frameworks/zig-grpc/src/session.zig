//! HTTP/2 by nghttp2: bytes in, bytes out. Each stream is a call.

const std = @import("std");
const c = @import("c");
const Call = @import("call.zig").Call;

const Allocator = std.mem.Allocator;

/// A stream costs some 300 bytes, and more while its requests wait for room for their replies.
const max_concurrent_streams = 1024;

/// A call and its place in the list of all of a session's.
const Stream = struct {
    call: Call = .{},
    answered: bool = false,
    /// Bytes of requests whose part of the stream's window is not given back yet.
    unconsumed: usize = 0,
    node: std.DoublyLinkedList.Node = .{},
};

/// Not to be moved: nghttp2 has its address.
pub const Session = struct {
    gpa: Allocator,
    http2: *c.nghttp2_session,
    streams: std.DoublyLinkedList = .{},

    pub fn init(session: *Session, gpa: Allocator) error{OutOfMemory}!void {
        var callbacks: ?*c.nghttp2_session_callbacks = null;
        try check(c.nghttp2_session_callbacks_new(&callbacks));
        defer c.nghttp2_session_callbacks_del(callbacks);
        c.nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, onBeginHeaders);
        c.nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader);
        c.nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onData);
        c.nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrame);
        c.nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, onFrameSent);
        c.nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onClose);

        var option: ?*c.nghttp2_option = null;
        try check(c.nghttp2_option_new(&option));
        defer c.nghttp2_option_del(option);
        c.nghttp2_option_set_no_auto_window_update(option, 1);

        var http2: ?*c.nghttp2_session = null;
        try check(c.nghttp2_session_server_new2(&http2, callbacks, session, option));
        session.* = .{ .gpa = gpa, .http2 = http2.? };
        errdefer session.deinit();
        const settings = [_]c.nghttp2_settings_entry{.{
            .settings_id = c.NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
            .value = max_concurrent_streams,
        }};
        try check(c.nghttp2_submit_settings(http2, c.NGHTTP2_FLAG_NONE, &settings, settings.len));
    }

    pub fn deinit(session: *Session) void {
        c.nghttp2_session_del(session.http2);
        while (session.streams.first) |node| session.forget(@fieldParentPtr("node", node));
    }

    /// Takes what the client has sent. After an error the session is over.
    pub fn receive(session: *Session, bytes: []const u8) error{Over}!void {
        const taken = c.nghttp2_session_mem_recv(session.http2, bytes.ptr, bytes.len);
        if (taken < 0) return error.Over;
    }

    /// Returns what to send next, which is valid until it is called again; nothing if there is
    /// nothing to send now.
    pub fn produce(session: *Session) error{Over}![]const u8 {
        var bytes: [*c]const u8 = null;
        const size = c.nghttp2_session_mem_send(session.http2, &bytes);
        if (size < 0) return error.Over;
        return if (size == 0) "" else bytes[0..@intCast(size)];
    }

    pub fn isOver(session: *const Session) bool {
        return c.nghttp2_session_want_read(session.http2) == 0 and
            c.nghttp2_session_want_write(session.http2) == 0;
    }

    fn forget(session: *Session, stream: *Stream) void {
        session.streams.remove(&stream.node);
        stream.call.deinit(session.gpa);
        session.gpa.destroy(stream);
    }

    /// Starts the answer as soon as there is something to say, or goes on with it.
    fn answer(session: *Session, id: i32, stream: *Stream) c_int {
        if (!stream.call.hasReplies() and stream.call.status == null) return 0;
        if (stream.answered) {
            // Fails if nghttp2 is not waiting for data, but is about to ask for them anyway.
            _ = c.nghttp2_session_resume_data(session.http2, id);
            return 0;
        }
        stream.answered = true;
        if (!stream.call.is_grpc) return session.respond(id, &.{field(":status", "415")}, null);
        if (stream.call.hasReplies()) {
            const replies: c.nghttp2_data_provider = .{
                .source = .{ .ptr = stream },
                .read_callback = onRoom,
            };
            return session.respond(id, &headers, &replies);
        }
        const status = stream.call.status.?;
        return session.respond(id, &(headers ++ .{
            field("grpc-status", status.code),
            field("grpc-message", status.message),
        }), null);
    }

    fn respond(
        session: *Session,
        id: i32,
        fields: []const c.nghttp2_nv,
        replies: ?*const c.nghttp2_data_provider,
    ) c_int {
        return c.nghttp2_submit_response(session.http2, id, fields.ptr, fields.len, replies);
    }

    /// Gives a stream's window back when all its requests are answered, and so bounds their number.
    fn consume(session: *Session, id: i32, stream: *Stream) void {
        if (stream.call.hasReplies() or stream.unconsumed == 0) return;
        _ = c.nghttp2_session_consume_stream(session.http2, id, stream.unconsumed);
        stream.unconsumed = 0;
    }
};

const headers = [_]c.nghttp2_nv{
    field(":status", "200"),
    field("content-type", "application/grpc"),
};

/// A header of text that lives as long as the program.
fn field(name: []const u8, value: []const u8) c.nghttp2_nv {
    return .{
        .name = @constCast(name.ptr),
        .value = @constCast(value.ptr),
        .namelen = name.len,
        .valuelen = value.len,
        .flags = c.NGHTTP2_NV_FLAG_NO_COPY_NAME | c.NGHTTP2_NV_FLAG_NO_COPY_VALUE,
    };
}

/// Only memory can be wanting where this is used.
fn check(result: c_int) error{OutOfMemory}!void {
    if (result != 0) return error.OutOfMemory;
}

fn sessionOf(user_data: ?*anyopaque) *Session {
    return @ptrCast(@alignCast(user_data.?));
}

fn streamOf(http2: ?*c.nghttp2_session, id: i32) ?*Stream {
    return @ptrCast(@alignCast(c.nghttp2_session_get_stream_user_data(http2, id)));
}

fn onBeginHeaders(
    http2: ?*c.nghttp2_session,
    frame: [*c]const c.nghttp2_frame,
    user_data: ?*anyopaque,
) callconv(.c) c_int {
    if (frame.*.headers.cat != c.NGHTTP2_HCAT_REQUEST) return 0;
    const session = sessionOf(user_data);
    const stream = session.gpa.create(Stream) catch return c.NGHTTP2_ERR_CALLBACK_FAILURE;
    stream.* = .{};
    session.streams.append(&stream.node);
    return c.nghttp2_session_set_stream_user_data(http2, frame.*.hd.stream_id, stream);
}

fn onHeader(
    http2: ?*c.nghttp2_session,
    frame: [*c]const c.nghttp2_frame,
    name: [*c]const u8,
    name_size: usize,
    value: [*c]const u8,
    value_size: usize,
    _: u8,
    _: ?*anyopaque,
) callconv(.c) c_int {
    const stream = streamOf(http2, frame.*.hd.stream_id) orelse return 0;
    stream.call.takeHeader(name[0..name_size], value[0..value_size]);
    return 0;
}

fn onData(
    http2: ?*c.nghttp2_session,
    _: u8,
    id: i32,
    bytes: [*c]const u8,
    size: usize,
    user_data: ?*anyopaque,
) callconv(.c) c_int {
    const session = sessionOf(user_data);
    _ = c.nghttp2_session_consume_connection(http2, size);
    const stream = streamOf(http2, id) orelse return 0;
    stream.call.takeBody(session.gpa, bytes[0..size]) catch return c.NGHTTP2_ERR_CALLBACK_FAILURE;
    stream.unconsumed += size;
    session.consume(id, stream);
    return session.answer(id, stream);
}

fn onFrame(
    http2: ?*c.nghttp2_session,
    frame: [*c]const c.nghttp2_frame,
    user_data: ?*anyopaque,
) callconv(.c) c_int {
    const header = frame.*.hd;
    if (header.type != c.NGHTTP2_HEADERS and header.type != c.NGHTTP2_DATA) return 0;
    const stream = streamOf(http2, header.stream_id) orelse return 0;
    if (header.type == c.NGHTTP2_HEADERS) stream.call.endHeaders();
    if (header.flags & c.NGHTTP2_FLAG_END_STREAM != 0) stream.call.endBody();
    return sessionOf(user_data).answer(header.stream_id, stream);
}

/// Fills a DATA frame, which HTTP/2 has room for now.
fn onRoom(
    http2: ?*c.nghttp2_session,
    id: i32,
    out: [*c]u8,
    size: usize,
    flags: [*c]u32,
    source: [*c]c.nghttp2_data_source,
    user_data: ?*anyopaque,
) callconv(.c) isize {
    const stream: *Stream = @ptrCast(@alignCast(source.*.ptr));
    const made = stream.call.makeReplies(out[0..size]);
    if (stream.call.hasReplies()) return @intCast(made);
    sessionOf(user_data).consume(id, stream);
    if (stream.call.status) |status| {
        flags.* |= c.NGHTTP2_DATA_FLAG_EOF | c.NGHTTP2_DATA_FLAG_NO_END_STREAM;
        const trailers = [_]c.nghttp2_nv{
            field("grpc-status", status.code),
            field("grpc-message", status.message),
        };
        const fields: usize = if (status.message.len == 0) 1 else 2;
        if (c.nghttp2_submit_trailer(http2, id, &trailers, fields) != 0) {
            return c.NGHTTP2_ERR_CALLBACK_FAILURE;
        }
    } else if (made == 0) {
        return c.NGHTTP2_ERR_DEFERRED;
    }
    return @intCast(made);
}

/// A call that has its status is over, even if the client has not ended its requests.
fn onFrameSent(
    http2: ?*c.nghttp2_session,
    frame: [*c]const c.nghttp2_frame,
    _: ?*anyopaque,
) callconv(.c) c_int {
    const header = frame.*.hd;
    if (header.type != c.NGHTTP2_HEADERS or header.flags & c.NGHTTP2_FLAG_END_STREAM == 0) return 0;
    if (c.nghttp2_session_get_stream_remote_close(http2, header.stream_id) != 0) return 0;
    const flags = c.NGHTTP2_FLAG_NONE;
    return c.nghttp2_submit_rst_stream(http2, flags, header.stream_id, c.NGHTTP2_NO_ERROR);
}

fn onClose(
    http2: ?*c.nghttp2_session,
    id: i32,
    _: u32,
    user_data: ?*anyopaque,
) callconv(.c) c_int {
    if (streamOf(http2, id)) |stream| sessionOf(user_data).forget(stream);
    return 0;
}
