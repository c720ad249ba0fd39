#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "output.h"

struct TlsContextDeleter {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using TlsContext = std::unique_ptr<SSL_CTX, TlsContextDeleter>;

/// TLS 1.2 and 1.3 for HTTP/2, with a certificate chain and its key in PEM files. Throws
/// std::runtime_error if they cannot be loaded.
TlsContext make_tls_context(const std::string& chain, const std::string& key);

/// The server's side of one TLS connection, without a socket: bytes in, bytes out.
class TlsStream {
public:
    explicit TlsStream(SSL_CTX* context);

    /// Takes what came from the socket and calls `sink(data, size)` with what was in it. What TLS
    /// itself has to say goes to `wire`. Returns whether to go on, as `sink` does.
    template <typename Sink>
    bool receive(const std::uint8_t* data, std::size_t size, Output& wire, Sink&& sink) {
        input_ = data;
        input_size_ = size;
        wire_ = &wire;
        std::uint8_t plain[kRecord];
        while (const std::size_t read_size = read(plain)) {
            if (!sink(plain, read_size)) {
                return false;
            }
        }
        return !closed_;
    }

    /// Encrypts; false if the connection has failed.
    bool send(const Output& plain, Output& wire);

    /// Says goodbye.
    void close(Output& wire);

    /// Whether the handshake is done, so that there may be something to send.
    bool ready() const { return ready_; }

private:
    struct Bio;
    friend struct Bio;

    struct Deleter {
        void operator()(SSL* ssl) const { SSL_free(ssl); }
    };

    static constexpr std::size_t kRecord = 16 << 10;

    /// Decrypts up to kRecord bytes; 0 if there are none.
    std::size_t read(std::uint8_t* plain);

    const std::uint8_t* input_ = nullptr;
    std::size_t input_size_ = 0;
    Output* wire_ = nullptr;
    std::unique_ptr<SSL, Deleter> ssl_;
    bool ready_ = false;
    bool closed_ = false;
};
