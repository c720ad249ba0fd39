// Command server serves the services of ghz's documentation with grpc-go: its default options, gzip,
// health, and reflection.
//
//	server -protoset FILE [-listen 127.0.0.1:0] [-tls FOLDER]
//
// FILE holds the services, compiled with their imports. A reply holds a greeting if it has a text
// field. A call that is answered by a stream gets three replies; a call in both directions gets one
// for each request. Replies are compressed as the requests are, or as the metadata `compress` says.
//
// FOLDER holds server.crt and server.key; without it, the server speaks plaintext.
//
// It prints where it listens, {"listen": "127.0.0.1:40123"}, and on each SIGUSR1 its counts,
// {"open": 0, "calls": 3, "messages": 6}: calls that are under way, calls that ended, and the
// messages in both directions. SIGTERM and SIGINT end it.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("grpc-go-greeter: ")
	protoset := flag.String("protoset", "", "the services")
	address := flag.String("listen", "127.0.0.1:0", "address to listen on")
	folder := flag.String("tls", "", "folder of server.crt and server.key")
	flag.Parse()
	if err := run(*protoset, *address, *folder); err != nil {
		log.Fatal(err)
	}
}

// run serves until SIGTERM or SIGINT, which end it without an error.
func run(protoset, address, folder string) error {
	var options []grpc.ServerOption
	if folder != "" {
		certificate, key := filepath.Join(folder, "server.crt"), filepath.Join(folder, "server.key")
		identity, err := credentials.NewServerTLSFromFile(certificate, key)
		if err != nil {
			return err
		}
		options = append(options, grpc.Creds(identity))
	}
	services, err := load(protoset)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGINT)

	greeter := &greeter{}
	server := grpc.NewServer(options...)
	for _, service := range services {
		server.RegisterService(greeter.service(service), nil)
	}
	healthpb.RegisterHealthServer(server, health.NewServer())
	reflection.Register(server)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()

	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(map[string]string{"listen": listener.Addr().String()}); err != nil {
		return err
	}
	for {
		select {
		case err := <-failed:
			return err
		case received := <-signals:
			if received != syscall.SIGUSR1 {
				server.Stop()
				return nil
			}
			if err := out.Encode(greeter.counts()); err != nil {
				return err
			}
		}
	}
}
