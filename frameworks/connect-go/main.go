// Command server answers benchmark.BenchmarkService: in clear text (h2c) on
// port 8080 and over TLS on port 8443.
package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"connectrpc.com/connect"

	"httparena/frameworks/connect-go/pb/pbconnect"
)

const (
	// Connect has no limit by default: one message could fill 4 GiB of memory.
	maxRequestBytes = 4 << 20

	// Connect's default is 0: replies of two bytes would go out as gzip to clients that take it.
	minCompressedBytes = 1024

	// Calls still open this long after SIGTERM are broken off.
	stopGrace = time.Second
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("connect-go: ")
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// run serves until SIGTERM or SIGINT, which end it without an error.
func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()

	chain := getenv("TLS_CERT", "/certs/server.crt")
	key := getenv("TLS_KEY", "/certs/server.key")
	certificate, err := tls.LoadX509KeyPair(chain, key)
	if err != nil {
		return fmt.Errorf("cannot load the certificate %s with the key %s: %w", chain, key, err)
	}
	clearText, err := net.Listen("tcp", ":"+getenv("PORT_H2C", "8080"))
	if err != nil {
		return err
	}
	encrypted, err := net.Listen("tcp", ":"+getenv("PORT_TLS", "8443"))
	if err != nil {
		return err
	}

	server := newServer(certificate)
	failed := make(chan error, 2)
	go func() { failed <- server.Serve(clearText) }()
	go func() { failed <- server.ServeTLS(encrypted, "", "") }()

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		shutDown(server)
		return nil
	}
}

func newServer(certificate tls.Certificate) *http.Server {
	mux := http.NewServeMux()
	mux.Handle(pbconnect.NewBenchmarkServiceHandler(
		benchmarkService{},
		connect.WithReadMaxBytes(maxRequestBytes),
		connect.WithCompressMinBytes(minCompressedBytes),
	))
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:   mux,
		Protocols: protocols,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
	}
}

// shutDown lets the open calls finish, but for no longer than stopGrace.
func shutDown(server *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		server.Close()
	}
}

func getenv(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}
