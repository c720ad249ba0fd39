#include <nghttp2/nghttp2.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
