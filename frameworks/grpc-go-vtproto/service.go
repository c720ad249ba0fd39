package main

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	"httparena/frameworks/grpc-go-vtproto/pb"
)

// benchmarkService relies on Go's int32 addition wrapping around, as the
// .proto asks.
type benchmarkService struct {
	pb.UnimplementedBenchmarkServiceServer
}

func (benchmarkService) GetSum(_ context.Context, request *pb.SumRequest) (*pb.SumReply, error) {
	return &pb.SumReply{Result: request.GetA() + request.GetB()}, nil
}

func (benchmarkService) StreamSum(
	request *pb.StreamRequest, replies grpc.ServerStreamingServer[pb.SumReply],
) error {
	sum := request.GetA() + request.GetB()
	for i := range max(request.GetCount(), 1) {
		if err := replies.Send(&pb.SumReply{Result: sum + i}); err != nil {
			return err
		}
	}
	return nil
}

func (benchmarkService) CollectSum(
	stream grpc.ClientStreamingServer[pb.SumRequest, pb.SumReply],
) error {
	var total int32
	for {
		request, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(&pb.SumReply{Result: total})
		}
		if err != nil {
			return err
		}
		total += request.GetA() + request.GetB()
	}
}

func (benchmarkService) EchoSum(
	stream grpc.BidiStreamingServer[pb.SumRequest, pb.SumReply],
) error {
	for {
		request, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := stream.Send(&pb.SumReply{Result: request.GetA() + request.GetB()}); err != nil {
			return err
		}
	}
}
