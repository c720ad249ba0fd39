#include "tls.h"

#include <openssl/err.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace {

constexpr std::string_view kProtocol = "h2";
constexpr unsigned char kProtocolList[] = {2, 'h', '2'};

// AES-128 first: with AES-256, which most clients prefer, the same bytes cost a fifth more. Both
// lists leave out all that RFC 9113 (appendix A) forbids.
constexpr const char* kTls13Ciphers =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr const char* kTls12Ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
    unsigned char* found = nullptr;
    const int result = SSL_select_next_proto(&found, chosen_size, kProtocolList,
                                             sizeof kProtocolList, offered, offered_size);
    *chosen = found;
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

bool has_chosen_protocol(const SSL* ssl) {
    const unsigned char* chosen = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl, &chosen, &size);
    return std::string_view(reinterpret_cast<const char*>(chosen), size) == kProtocol;
}

/// What went wrong first; what follows it are its consequences.
std::string first_error() {
    const unsigned long error = ERR_peek_error();
    if (ERR_SYSTEM_ERROR(error)) {
        return std::generic_category().message(ERR_GET_REASON(error));
    }
    const char* const reason = ERR_reason_error_string(error);
    return reason != nullptr ? reason : "unknown error";
}

void check(bool ok) {
    if (!ok) {
        throw std::runtime_error("OpenSSL: " + first_error());
    }
}

}  // namespace

/// Where OpenSSL reads from and writes to: a TlsStream's buffers.
struct TlsStream::Bio {
    static TlsStream& of(BIO* bio) { return *static_cast<TlsStream*>(BIO_get_data(bio)); }

    static int read(BIO* bio, char* data, int size) {
        TlsStream& stream = of(bio);
        BIO_clear_retry_flags(bio);
        if (stream.input_size_ == 0) {
            BIO_set_retry_read(bio);
            return -1;
        }
        const std::size_t part = std::min(stream.input_size_, static_cast<std::size_t>(size));
        std::memcpy(data, stream.input_, part);
        stream.input_ += part;
        stream.input_size_ -= part;
        return static_cast<int>(part);
    }

    static int write(BIO* bio, const char* data, int size) {
        of(bio).wire_->append(reinterpret_cast<const std::uint8_t*>(data),
                              static_cast<std::size_t>(size));
        return size;
    }

    static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH; }

    static BIO* make(TlsStream& stream) {
        static BIO_METHOD* const method = [] {
            BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "buffers");
            check(made != nullptr);
            BIO_meth_set_read(made, read);
            BIO_meth_set_write(made, write);
            BIO_meth_set_ctrl(made, control);
            return made;
        }();
        BIO* const bio = BIO_new(method);
        if (bio == nullptr) {
            throw std::bad_alloc();
        }
        BIO_set_data(bio, &stream);
        BIO_set_init(bio, 1);
        return bio;
    }
};

TlsContext make_tls_context(const std::string& chain, const std::string& key) {
    TlsContext context(SSL_CTX_new(TLS_server_method()));
    check(context != nullptr);
    SSL_CTX* const raw = context.get();
    check(SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION));
    check(SSL_CTX_set_ciphersuites(raw, kTls13Ciphers));
    check(SSL_CTX_set_cipher_list(raw, kTls12Ciphers));
    SSL_CTX_set_options(raw, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_RENEGOTIATION |
                                 SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(raw, 0);
    SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(raw, 1);
    SSL_CTX_set_alpn_select_cb(raw, choose_protocol, nullptr);
    if (SSL_CTX_use_certificate_chain_file(raw, chain.c_str()) != 1) {
        throw std::runtime_error("cannot load the certificate " + chain + ": " + first_error());
    }
    if (SSL_CTX_use_PrivateKey_file(raw, key.c_str(), SSL_FILETYPE_PEM) != 1) {
        throw std::runtime_error("cannot load the key " + key + " of " + chain + ": " +
                                 first_error());
    }
    return context;
}

TlsStream::TlsStream(SSL_CTX* context) : ssl_(SSL_new(context)) {
    if (!ssl_) {
        throw std::bad_alloc();
    }
    BIO* const bio = Bio::make(*this);
    SSL_set_bio(ssl_.get(), bio, bio);
    SSL_set_accept_state(ssl_.get());
}

std::size_t TlsStream::read(std::uint8_t* plain) {
    ERR_clear_error();
    const int size = SSL_read(ssl_.get(), plain, kRecord);
    if (!ready_ && SSL_is_init_finished(ssl_.get())) {
        ready_ = has_chosen_protocol(ssl_.get());
        if (!ready_) {
            closed_ = true;
            return 0;
        }
    }
    if (size > 0) {
        return static_cast<std::size_t>(size);
    }
    closed_ = closed_ || SSL_get_error(ssl_.get(), size) != SSL_ERROR_WANT_READ;
    return 0;
}

bool TlsStream::send(const Output& plain, Output& wire) {
    wire_ = &wire;
    ERR_clear_error();
    return SSL_write(ssl_.get(), plain.data(), static_cast<int>(plain.size())) > 0;
}

void TlsStream::close(Output& wire) {
    wire_ = &wire;
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
}
