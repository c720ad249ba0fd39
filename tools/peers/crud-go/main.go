// Command server is Go's net/http with a conscience: a service of items over HTTP/1.1 and HTTP/2,
// and a count of all that it did. Scenarios are held against it.
//
//	server [-listen 127.0.0.1:0] [-tls FOLDER] [-grpc 127.0.0.1:0] [-log FILE]
//
// It serves the items of `volley serve`, with the same counts; volley/docs/serve.md describes them.
// It also lists the items of an owner (GET /v1/items?owner=ann) and invents stocks (GET /v1/stock/SKU).
// With -grpc, it serves shop.Auth and shop.Orders of volley/examples/shop.proto on another port, in
// plaintext.
//
// FOLDER holds server.crt and server.key; without it, items are served in plaintext: HTTP/1.1, or
// HTTP/2 with prior knowledge. FILE gets a line for each request: method, path, and the CRC-32 of
// the body in hex.
//
// It prints where it listens, {"listen": "127.0.0.1:40123", "grpc": "127.0.0.1:40124"}, and its
// counts on each SIGUSR1, when FILE is complete as well, and at its end by SIGTERM or SIGINT.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"google.golang.org/grpc"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("crud-go: ")
	address := flag.String("listen", "127.0.0.1:0", "address to listen on")
	folder := flag.String("tls", "", "folder of server.crt and server.key")
	rpcs := flag.String("grpc", "", "address of the gRPC service; none: no such service")
	file := flag.String("log", "", "file for a line a request")
	flag.Parse()
	if err := run(*address, *folder, *rpcs, *file); err != nil {
		log.Fatal(err)
	}
}

// run serves until SIGTERM or SIGINT, which end it without an error.
func run(address, folder, shopAddress, file string) error {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGINT)
	requests, err := newJournal(file)
	if err != nil {
		return err
	}
	service, rpcs := newItems(requests), &shop{}
	failed := make(chan error, 2)
	where := map[string]string{}
	if where["listen"], err = serveItems(service, address, folder, failed); err != nil {
		return err
	}
	if shopAddress != "" {
		if where["grpc"], err = serveShop(rpcs, shopAddress, failed); err != nil {
			return err
		}
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(where); err != nil {
		return err
	}
	for {
		select {
		case err := <-failed:
			return err
		case received := <-signals:
			if err := requests.flush(); err != nil {
				return err
			}
			line := service.line()
			line.Calls, line.Messages = rpcs.calls.Load(), rpcs.messages.Load()
			line.Open += rpcs.open.Load()
			if err := out.Encode(line); err != nil || received != syscall.SIGUSR1 {
				return err
			}
		}
	}
}

// serveItems serves in the background, and returns where.
func serveItems(service *items, address, folder string, failed chan<- error) (string, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: service.handler(), Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(folder != "")
	server.Protocols.SetUnencryptedHTTP2(folder == "")
	go func() {
		if folder == "" {
			failed <- server.Serve(listener)
			return
		}
		certificate, key := filepath.Join(folder, "server.crt"), filepath.Join(folder, "server.key")
		failed <- server.ServeTLS(listener, certificate, key)
	}()
	return listener.Addr().String(), nil
}

// serveShop serves in the background, and returns where.
func serveShop(rpcs *shop, address string, failed chan<- error) (string, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", err
	}
	server := grpc.NewServer(grpc.ForceServerCodecV2(wire{}))
	rpcs.register(server)
	go func() { failed <- server.Serve(listener) }()
	return listener.Addr().String(), nil
}

// journal is the file of requests; nil if there is none.
type journal struct {
	mutex sync.Mutex
	out   *bufio.Writer
}

func newJournal(file string) (*journal, error) {
	if file == "" {
		return nil, nil
	}
	created, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	return &journal{out: bufio.NewWriterSize(created, 1<<20)}, nil
}

// note adds a request. An error of the file shows when it is flushed.
func (j *journal) note(request *http.Request, hash uint32) {
	if j == nil {
		return
	}
	j.mutex.Lock()
	defer j.mutex.Unlock()
	fmt.Fprintf(j.out, "%s %s %08x\n", request.Method, request.URL.Path, hash)
}

func (j *journal) flush() error {
	if j == nil {
		return nil
	}
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.out.Flush()
}
