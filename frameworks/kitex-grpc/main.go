// Command server answers benchmark.BenchmarkService in clear text (h2c) on
// port 8080.
package main

import (
	"context"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/klog"
	"github.com/cloudwego/kitex/pkg/remote"
	"github.com/cloudwego/kitex/pkg/remote/codec/protobuf/encoding"
	"github.com/cloudwego/kitex/pkg/remote/trans/nphttp2/codes"
	"github.com/cloudwego/kitex/pkg/remote/trans/nphttp2/status"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"github.com/cloudwego/kitex/pkg/streaming"
	"github.com/cloudwego/kitex/server"

	"httparena/frameworks/kitex-grpc/kitex_gen/benchmark/benchmarkservice"
)

//go:generate go tool kitex -module httparena/frameworks/kitex-grpc -streamx benchmark.proto

// Calls still open this long after SIGTERM are broken off.
const stopGrace = time.Second

func main() {
	log.SetFlags(0)
	log.SetPrefix("kitex-grpc: ")
	// Kitex would log its start and each call that its client cancels.
	klog.SetLevel(klog.LevelFatal)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// run serves until SIGTERM or SIGINT, which end it without an error.
func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()

	listener, err := net.Listen("tcp", ":"+getenv("PORT_H2C", "8080"))
	if err != nil {
		return err
	}
	err = benchmarkservice.NewServer(
		new(benchmarkService),
		server.WithListener(listener),
		// Kitex itself listens for signals at the end of its start, and would
		// miss an earlier one.
		server.WithExitSignal(func() <-chan error {
			stopped := make(chan error, 1)
			context.AfterFunc(ctx, func() {
				stopped <- nil
				// Its end would wait for a stream whose client does not read.
				time.AfterFunc(stopGrace, func() { os.Exit(0) })
			})
			return stopped
		}),
		server.WithExitWaitTime(stopGrace),
		server.WithMiddleware(plain),
		server.WithGRPCUnknownServiceHandler(refuse),
	).Run()
	if ctx.Err() != nil {
		// An error after the signal is about calls that were broken off.
		return nil
	}
	return err
}

// plain sends every reply as it is. Kitex by itself compresses all replies for
// clients that accept a compression, and fails if it does not have that one.
func plain(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, request, response any) error {
		remote.SetSendCompressor(rpcinfo.GetRPCInfo(ctx), encoding.Identity)
		return next(ctx, request, response)
	}
}

// refuse answers calls of unknown methods as gRPC does. Kitex by itself gives
// them a code of its own, which gRPC's clients take for CANCELLED.
func refuse(_ context.Context, method string, _ streaming.Stream) error {
	return status.Errorf(codes.Unimplemented, "unknown method %s", method)
}

func getenv(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}
