//! One client: a socket, TLS if the port has it, and an HTTP/2 session.

const std = @import("std");
const c = @import("c");
const startup = @import("startup.zig");
const Session = @import("session.zig").Session;

const linux = std.os.linux;
const Allocator = std.mem.Allocator;

/// What all connections of a thread use in turn.
pub const Buffers = struct {
    received: [64 << 10]u8 = undefined,
    made: std.ArrayList(u8) = .empty,

    /// When this much is made, others have their turn.
    const enough = 64 << 10;
};

pub const Connection = struct {
    gpa: Allocator,
    socket: linux.fd_t,
    tls: ?*c.SSL,
    session: Session,

    /// What the socket would not take.
    backlog: std.ArrayList(u8) = .empty,

    /// The events that epoll waits for.
    interest: u32 = linux.EPOLL.IN,

    /// Takes the socket over; `context` is null for plain text.
    pub fn create(gpa: Allocator, socket: linux.fd_t, context: ?*c.SSL_CTX) !*Connection {
        errdefer _ = linux.close(socket);
        startup.setOption(socket, linux.IPPROTO.TCP, linux.TCP.NODELAY, 1);
        const tls = if (context) |shared| try newTls(shared, socket) else null;
        errdefer c.SSL_free(tls);
        const connection = try gpa.create(Connection);
        errdefer gpa.destroy(connection);
        connection.* = .{ .gpa = gpa, .socket = socket, .tls = tls, .session = undefined };
        try connection.session.init(gpa);
        return connection;
    }

    pub fn destroy(connection: *Connection) void {
        connection.session.deinit();
        connection.backlog.deinit(connection.gpa);
        c.SSL_free(connection.tls);
        _ = linux.close(connection.socket);
        connection.gpa.destroy(connection);
    }

    /// Receives and sends what can be at once, but no more than a buffer of each. Returns the
    /// events to wait for.
    pub fn serve(connection: *Connection, buffers: *Buffers) !u32 {
        // A client that does not read is not read from either.
        try connection.sendBacklog();
        if (connection.backlog.items.len > 0) return linux.EPOLL.OUT;

        const received = try connection.read(&buffers.received);
        if (received.len > 0) try connection.session.receive(received);
        if (connection.tls) |tls| {
            if (c.SSL_is_init_finished(tls) == 0) {
                return if (c.SSL_want(tls) == c.SSL_WRITING) linux.EPOLL.OUT else linux.EPOLL.IN;
            }
        }

        const made = &buffers.made;
        made.clearRetainingCapacity();
        while (made.items.len < Buffers.enough) {
            const bytes = try connection.session.produce();
            if (bytes.len == 0) break;
            try made.appendSlice(connection.gpa, bytes);
        }
        const sent = try connection.write(made.items);
        if (sent < made.items.len) {
            try connection.backlog.appendSlice(connection.gpa, made.items[sent..]);
            return linux.EPOLL.OUT;
        }
        if (connection.session.isOver()) return error.Over;
        const more = made.items.len >= Buffers.enough;
        return if (more) linux.EPOLL.IN | linux.EPOLL.OUT else linux.EPOLL.IN;
    }

    fn sendBacklog(connection: *Connection) !void {
        const backlog = &connection.backlog;
        const sent = try connection.write(backlog.items);
        if (sent == backlog.items.len) {
            backlog.clearAndFree(connection.gpa);
        } else if (sent > 0) {
            std.mem.copyForwards(u8, backlog.items, backlog.items[sent..]);
            backlog.shrinkRetainingCapacity(backlog.items.len - sent);
        }
    }

    /// Returns what has come, nothing if nothing has.
    fn read(connection: *Connection, buffer: []u8) error{Over}![]const u8 {
        const tls = connection.tls orelse {
            const size = linux.read(connection.socket, buffer.ptr, buffer.len);
            return switch (linux.errno(size)) {
                .SUCCESS => if (size == 0) error.Over else buffer[0..size],
                .AGAIN, .INTR => "",
                else => error.Over,
            };
        };
        var size: usize = 0;
        c.ERR_clear_error();
        const result = c.SSL_read_ex(tls, buffer.ptr, buffer.len, &size);
        return if (result == 1 or isWaiting(tls, result)) buffer[0..size] else error.Over;
    }

    /// Returns how many of the bytes have left.
    fn write(connection: *Connection, bytes: []const u8) error{Over}!usize {
        var sent: usize = 0;
        while (sent < bytes.len) {
            const part = try connection.writePart(bytes[sent..]);
            if (part == 0) break;
            sent += part;
        }
        return sent;
    }

    fn writePart(connection: *Connection, bytes: []const u8) error{Over}!usize {
        const tls = connection.tls orelse {
            const flags = linux.MSG.NOSIGNAL;
            const size = linux.sendto(connection.socket, bytes.ptr, bytes.len, flags, null, 0);
            return switch (linux.errno(size)) {
                .SUCCESS => size,
                .AGAIN, .INTR => 0,
                else => error.Over,
            };
        };
        var size: usize = 0;
        c.ERR_clear_error();
        const result = c.SSL_write_ex(tls, bytes.ptr, bytes.len, &size);
        return if (result == 1 or isWaiting(tls, result)) size else error.Over;
    }
};

fn newTls(context: *c.SSL_CTX, socket: linux.fd_t) error{OutOfMemory}!*c.SSL {
    const tls = c.SSL_new(context) orelse return error.OutOfMemory;
    errdefer c.SSL_free(tls);
    if (c.SSL_set_fd(tls, socket) != 1) return error.OutOfMemory;
    c.SSL_set_accept_state(tls);
    return tls;
}

/// Whether a call of OpenSSL only waits for the socket.
fn isWaiting(tls: *c.SSL, result: c_int) bool {
    const reason = c.SSL_get_error(tls, result);
    return reason == c.SSL_ERROR_WANT_READ or reason == c.SSL_ERROR_WANT_WRITE;
}
