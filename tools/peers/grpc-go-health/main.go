// Command server is grpc-go with its own health and reflection services, and nothing else. Tests
// call it without a .proto file.
//
//	server [-listen 127.0.0.1:0]
//
// It prints where it listens, {"listen": "127.0.0.1:40123"}. SIGTERM and SIGINT end it.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("grpc-go-health: ")
	address := flag.String("listen", "127.0.0.1:0", "address to listen on")
	flag.Parse()
	if err := run(*address); err != nil {
		log.Fatal(err)
	}
}

// run serves until SIGTERM or SIGINT, which end it without an error.
func run(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	reflection.Register(server)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		server.Stop()
	}()
	where := map[string]string{"listen": listener.Addr().String()}
	if err := json.NewEncoder(os.Stdout).Encode(where); err != nil {
		return err
	}
	return server.Serve(listener)
}
