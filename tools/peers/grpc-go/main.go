// Command server is grpc-go with a conscience: its default options, and a count of all that it
// answered. Generators are held against it.
//
//	server [-protoset FILE] [-listen 127.0.0.1:0] [-tls FOLDER]
//
// It serves the benchmark as frameworks/grpc-go does, gRPC's health, and reflection. With a FILE of
// services, compiled with their imports, it serves these instead of the benchmark. Replies are
// compressed as the requests are.
//
// FOLDER holds server.crt and server.key; without it, the server speaks plaintext.
//
// It prints where it listens, {"listen": "127.0.0.1:40123"}, and on each SIGUSR1 its counts,
// {"calls": 3, "messages": 15000, "open": 0}: calls that ended, the messages in them (of the
// benchmark: its replies), and calls that are under way. SIGTERM and SIGINT end it.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	"httparena/frameworks/grpc-go/pb"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("grpc-go: ")
	protoset := flag.String("protoset", "", "services to serve instead of the benchmark")
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
	counts := &counts{}
	server := grpc.NewServer(options...)
	if protoset == "" {
		pb.RegisterBenchmarkServiceServer(server, &benchmark{counts: counts})
	} else if err := registerGreeters(server, protoset, counts); err != nil {
		return err
	}
	healthpb.RegisterHealthServer(server, health.NewServer())
	reflection.Register(server)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGINT)
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
			if err := out.Encode(counts.line()); err != nil {
				return err
			}
		}
	}
}

// counts are kept by a service. A call counts its messages by itself and adds them up at its end,
// so that counting costs a message nothing.
type counts struct {
	open, calls, messages atomic.Int64
}

func (c *counts) begin() { c.open.Add(1) }

// end is called with the number of messages in a call.
func (c *counts) end(messages int64) {
	c.messages.Add(messages)
	c.calls.Add(1)
	c.open.Add(-1)
}

// line is what answers SIGUSR1.
func (c *counts) line() map[string]int64 {
	return map[string]int64{
		"open":     c.open.Load(),
		"calls":    c.calls.Load(),
		"messages": c.messages.Load(),
	}
}
