// Command server is frameworks/grpc-go with a conscience: the same library with the same default
// options, and a count of all that it answered. Generators are held against it.
//
//	server [-listen 127.0.0.1:0] [-tls FOLDER]
//
// FOLDER holds server.crt and server.key; without it, the server speaks plaintext.
//
// It prints where it listens, {"listen": "127.0.0.1:40123"}, and on each SIGUSR1 its counts,
// {"calls": 3, "messages": 15000, "open": 0}: calls that ended, the replies sent in them, and calls
// that are under way. SIGTERM and SIGINT end it.
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

	"httparena/frameworks/grpc-go/pb"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("grpc-go-counting: ")
	address := flag.String("listen", "127.0.0.1:0", "address to listen on")
	folder := flag.String("tls", "", "folder of server.crt and server.key")
	flag.Parse()
	if err := run(*address, *folder); err != nil {
		log.Fatal(err)
	}
}

// run serves until SIGTERM or SIGINT, which end it without an error.
func run(address, folder string) error {
	var options []grpc.ServerOption
	if folder != "" {
		certificate, key := filepath.Join(folder, "server.crt"), filepath.Join(folder, "server.key")
		identity, err := credentials.NewServerTLSFromFile(certificate, key)
		if err != nil {
			return err
		}
		options = append(options, grpc.Creds(identity))
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGINT)

	service := &countingService{}
	server := grpc.NewServer(options...)
	pb.RegisterBenchmarkServiceServer(server, service)
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
			if err := out.Encode(service.counts()); err != nil {
				return err
			}
		}
	}
}
