package main

import (
	"context"
	"errors"
	"io"

	"httparena/frameworks/kitex-grpc/kitex_gen/benchmark"
)

// benchmarkService relies on Go's int32 addition wrapping around, as the
// .proto asks.
type benchmarkService struct{}

func (*benchmarkService) GetSum(
	_ context.Context, request *benchmark.SumRequest,
) (*benchmark.SumReply, error) {
	return &benchmark.SumReply{Result: request.GetA() + request.GetB()}, nil
}

func (*benchmarkService) StreamSum(
	ctx context.Context,
	request *benchmark.StreamRequest,
	stream benchmark.BenchmarkService_StreamSumServer,
) error {
	sum := request.GetA() + request.GetB()
	for i := range max(request.GetCount(), 1) {
		if err := stream.Send(ctx, &benchmark.SumReply{Result: sum + i}); err != nil {
			return err
		}
	}
	return nil
}

func (*benchmarkService) CollectSum(
	ctx context.Context, stream benchmark.BenchmarkService_CollectSumServer,
) error {
	var total int32
	for {
		request, err := stream.Recv(ctx)
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(ctx, &benchmark.SumReply{Result: total})
		}
		if err != nil {
			return err
		}
		total += request.GetA() + request.GetB()
	}
}

func (*benchmarkService) EchoSum(
	ctx context.Context, stream benchmark.BenchmarkService_EchoSumServer,
) error {
	for {
		request, err := stream.Recv(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		reply := &benchmark.SumReply{Result: request.GetA() + request.GetB()}
		if err := stream.Send(ctx, reply); err != nil {
			return err
		}
	}
}
