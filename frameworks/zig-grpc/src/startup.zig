//! What may fail before the first client comes: each failure is one line, and the end.

const std = @import("std");
const c = @import("c");

const linux = std.os.linux;

pub fn fatal(comptime format: []const u8, arguments: anytype) noreturn {
    std.debug.print("zig-grpc: " ++ format ++ "\n", arguments);
    std.process.exit(1);
}

/// Listens on all addresses, or on all of IPv4 where there is no IPv6.
pub fn listen(port: []const u8) linux.fd_t {
    const number = std.fmt.parseInt(u16, port, 10) catch fatal("not a port: {s}", .{port});
    const big_endian = std.mem.nativeToBig(u16, number);
    const any6: linux.sockaddr.in6 = .{
        .port = big_endian,
        .flowinfo = 0,
        .addr = @splat(0),
        .scope_id = 0,
    };
    const any4: linux.sockaddr.in = .{ .port = big_endian, .addr = 0 };
    const reason = switch (listenOn(any6)) {
        .socket => |socket| return socket,
        .failure => |failure| if (failure != .AFNOSUPPORT) failure else switch (listenOn(any4)) {
            .socket => |socket| return socket,
            .failure => |failure4| failure4,
        },
    };
    fatal("cannot listen on port {s}: {s}", .{ port, switch (reason) {
        .ADDRINUSE => "address already in use",
        .ACCES => "permission denied",
        else => @tagName(reason),
    } });
}

const Listener = union(enum) { socket: linux.fd_t, failure: linux.E };

fn listenOn(address: anytype) Listener {
    const kind = linux.SOCK.STREAM | linux.SOCK.NONBLOCK | linux.SOCK.CLOEXEC;
    const opened = linux.socket(address.family, kind, 0);
    if (linux.errno(opened) != .SUCCESS) return .{ .failure = linux.errno(opened) };
    const socket: linux.fd_t = @intCast(opened);
    setOption(socket, linux.SOL.SOCKET, linux.SO.REUSEADDR, 1);
    if (address.family == linux.AF.INET6) setOption(socket, linux.SOL.IPV6, linux.IPV6.V6ONLY, 0);
    const bound = linux.bind(socket, @ptrCast(&address), @sizeOf(@TypeOf(address)));
    if (linux.errno(bound) != .SUCCESS) return .{ .failure = linux.errno(bound) };
    const listening = linux.listen(socket, std.Io.net.default_kernel_backlog);
    if (linux.errno(listening) != .SUCCESS) return .{ .failure = linux.errno(listening) };
    return .{ .socket = socket };
}

pub fn setOption(socket: linux.fd_t, level: i32, name: u32, value: c_int) void {
    _ = linux.setsockopt(socket, level, name, @ptrCast(&value), @sizeOf(c_int));
}

/// TLS 1.2 and 1.3 with this certificate, for HTTP/2 alone.
pub fn tlsContext(chain: [:0]const u8, key: [:0]const u8) *c.SSL_CTX {
    const context = c.SSL_CTX_new(c.TLS_server_method()) orelse fatal("{s}", .{why()});
    if (c.SSL_CTX_use_certificate_chain_file(context, chain) != 1) {
        fatal("cannot use the certificate {s}: {s}", .{ chain, why() });
    }
    if (c.SSL_CTX_use_PrivateKey_file(context, key, c.SSL_FILETYPE_PEM) != 1) {
        fatal("cannot use the key {s}: {s}", .{ key, why() });
    }
    _ = c.SSL_CTX_set_min_proto_version(context, c.TLS1_2_VERSION);
    // What was not sent is sent again from another buffer, and in parts.
    _ = c.SSL_CTX_set_mode(
        context,
        c.SSL_MODE_ENABLE_PARTIAL_WRITE | c.SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER,
    );
    c.SSL_CTX_set_alpn_select_cb(context, selectHttp2, null);
    return context;
}

var reason_text: [256]u8 = undefined;

fn why() []const u8 {
    c.ERR_error_string_n(c.ERR_peek_error(), &reason_text, reason_text.len);
    return std.mem.sliceTo(&reason_text, 0);
}

fn selectHttp2(
    _: ?*c.SSL,
    selected: [*c][*c]const u8,
    selected_size: [*c]u8,
    offered: [*c]const u8,
    offered_size: c_uint,
    _: ?*anyopaque,
) callconv(.c) c_int {
    const h2 = "\x02h2";
    const result = c.SSL_select_next_proto(
        @ptrCast(selected),
        selected_size,
        h2,
        h2.len,
        offered,
        offered_size,
    );
    const found = result == c.OPENSSL_NPN_NEGOTIATED;
    return if (found) c.SSL_TLSEXT_ERR_OK else c.SSL_TLSEXT_ERR_ALERT_FATAL;
}
