// Command faulty is a benchmark server with the one fault that its argument names, on port 8080. Tests measure it.
//
//	none            no fault
//	wrong-sum       GetSum is one too high
//	one-short       StreamSum leaves out the last reply of a long stream
//	error-at-end    StreamSum sends everything, then ends with an error status
//	garbage         GetSum's reply is no SumReply
//	tired           StreamSum ends with an error as soon as there is load, and ever after
//	worn            GetSum is one too high as soon as there was load
//	collapsing      the first GetSum after the load has begun ends the server with exit code 7
//	sly TELL N      GetSum is one too high in one of N calls that it takes for the load's; TELL is
//	                settings, agent, connections or time (see sly.go)
//	deaf            no fault, but it does not end on SIGTERM
//	counts FILE     no fault: writes to FILE how many messages it sent to those who asked StreamSum
//	                for a=1 and b=2, as the load does, when told to stop
//
// There is load when a stream is asked for again: the contract asks with other operands each time, and for the
// profile's own request once.
package main

import (
	"context"
	"log"
	"net"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"httparena/frameworks/grpc-go/pb"
)

// long is the fewest replies of a long stream.
const long = 1001

func main() {
	log.SetFlags(0)
	if err := run(&faulty{fault: os.Args[1], asked: map[request]bool{}}, os.Args[2:]); err != nil {
		log.Fatal(err)
	}
}

// run serves until SIGTERM, and a second longer at most; then it writes how many messages were sent to the first of
// files.
func run(service *faulty, files []string) error {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	listener, err := net.Listen("tcp", ":8080")
	if err != nil {
		return err
	}
	var options []grpc.ServerOption
	if service.fault == "sly" {
		if service.sly, err = newSly(files); err != nil {
			return err
		}
		listener, options = service.sly.listen(listener), service.sly.options()
	}
	server := grpc.NewServer(options...)
	pb.RegisterBenchmarkServiceServer(server, service)
	go func() {
		for range told {
			if service.fault != "deaf" {
				// A stream whose client does not read would hold the server up.
				time.AfterFunc(time.Second, func() { service.exit(files) })
				server.GracefulStop()
			}
		}
	}()
	if err := server.Serve(listener); err != nil {
		return err
	}
	service.exit(files)
	return nil
}

// request is what was asked for: a, b and count.
type request [3]int32

type faulty struct {
	pb.UnimplementedBenchmarkServiceServer
	fault  string
	loaded atomic.Bool
	sent   atomic.Int64
	sly    *sly
	mutex  sync.Mutex
	asked  map[request]bool
}

func (f *faulty) GetSum(ctx context.Context, sum *pb.SumRequest) (*pb.SumReply, error) {
	reply := &pb.SumReply{Result: sum.GetA() + sum.GetB()}
	switch loaded := f.loaded.Load(); {
	case f.fault == "garbage":
		reply = &pb.SumReply{}
		reply.ProtoReflect().SetUnknown([]byte{0xff})
	case f.fault == "collapsing" && loaded:
		os.Exit(7)
	case f.sly != nil && f.sly.lies(ctx):
		reply.Result++
	case f.fault == "wrong-sum", f.fault == "worn" && loaded:
		reply.Result++
	}
	return reply, nil
}

func (f *faulty) StreamSum(stream *pb.StreamRequest, replies grpc.ServerStreamingServer[pb.SumReply]) error {
	a, b, count := stream.GetA(), stream.GetB(), stream.GetCount()
	f.note(request{a, b, count})
	if f.fault == "tired" && f.loaded.Load() {
		return status.Error(codes.ResourceExhausted, "tired")
	}
	if f.fault == "one-short" && count >= long {
		count--
	}
	for i := range max(count, 1) {
		if a == 1 && b == 2 {
			f.sent.Add(1)
		}
		if err := replies.Send(&pb.SumReply{Result: a + b + i}); err != nil {
			return err
		}
	}
	if f.fault == "error-at-end" {
		return status.Error(codes.Internal, "broken on purpose")
	}
	return nil
}

// exit ends the server.
func (f *faulty) exit(files []string) {
	f.mutex.Lock() // once
	if len(files) > 0 {
		if err := os.WriteFile(files[0], strconv.AppendInt(nil, f.sent.Load(), 10), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	os.Exit(0)
}

// note remembers a request. If it came before, there is load.
func (f *faulty) note(it request) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.asked[it] {
		f.loaded.Store(true)
	}
	f.asked[it] = true
}
