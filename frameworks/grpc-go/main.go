// Command server answers benchmark.BenchmarkService: in clear text (h2c) on
// port 8080 and over TLS on port 8443.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	"httparena/frameworks/grpc-go/pb"
)

// Calls still open this long after SIGTERM are broken off.
const stopGrace = time.Second

func main() {
	log.SetFlags(0)
	log.SetPrefix("grpc-go: ")
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
	certificate, err := credentials.NewServerTLSFromFile(chain, key)
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

	// Credentials belong to a grpc.Server, so each port has its own.
	h2c := newServer()
	tls := newServer(grpc.Creds(certificate))
	failed := make(chan error, 2)
	go func() { failed <- h2c.Serve(clearText) }()
	go func() { failed <- tls.Serve(encrypted) }()

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		shutDown(h2c, tls)
		return nil
	}
}

func newServer(options ...grpc.ServerOption) *grpc.Server {
	server := grpc.NewServer(options...)
	pb.RegisterBenchmarkServiceServer(server, benchmarkService{})
	healthpb.RegisterHealthServer(server, health.NewServer())
	reflection.Register(server)
	return server
}

// shutDown lets the open calls finish, but for no longer than stopGrace.
func shutDown(servers ...*grpc.Server) {
	// Stop, too, would wait for a stream whose client does not read.
	time.AfterFunc(stopGrace, func() { os.Exit(0) })
	for _, server := range servers {
		server.GracefulStop()
	}
}

func getenv(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}
