// Command server serves items (requests/crud.openapi.yaml): HTTP/1.1 and h2c on one port, HTTP/1.1
// and HTTP/2 over TLS on another.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Requests still open this long after SIGTERM are broken off.
const stopGrace = time.Second

func main() {
	log.SetFlags(0)
	log.SetPrefix("go-http: ")
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

	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{
		Handler:   newItems().handler(),
		Protocols: protocols,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
	}
	failed := make(chan error, 2)
	go func() { failed <- server.Serve(clearText) }()
	go func() { failed <- server.ServeTLS(encrypted, "", "") }()

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return shutDown(server)
	}
}

// shutDown lets the open requests finish, but for no longer than stopGrace.
func shutDown(server *http.Server) error {
	grace, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	err := server.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	}
	return err
}

func getenv(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}
