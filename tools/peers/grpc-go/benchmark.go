package main

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	"httparena/frameworks/grpc-go/pb"
)

// benchmark answers as frameworks/grpc-go does.
type benchmark struct {
	pb.UnimplementedBenchmarkServiceServer
	*counts
}

func (b *benchmark) GetSum(
	_ context.Context, request *pb.SumRequest,
) (*pb.SumReply, error) {
	b.begin()
	defer b.end(1)
	return &pb.SumReply{Result: request.GetA() + request.GetB()}, nil
}

func (b *benchmark) StreamSum(
	request *pb.StreamRequest, replies grpc.ServerStreamingServer[pb.SumReply],
) error {
	b.begin()
	sent := int64(0)
	defer func() { b.end(sent) }()
	sum := request.GetA() + request.GetB()
	for i := range max(request.GetCount(), 1) {
		if err := replies.Send(&pb.SumReply{Result: sum + i}); err != nil {
			return err
		}
		sent++
	}
	return nil
}

func (b *benchmark) CollectSum(
	stream grpc.ClientStreamingServer[pb.SumRequest, pb.SumReply],
) error {
	b.begin()
	sent := int64(0)
	defer func() { b.end(sent) }()
	var total int32
	for {
		request, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			sent = 1
			return stream.SendAndClose(&pb.SumReply{Result: total})
		}
		if err != nil {
			return err
		}
		total += request.GetA() + request.GetB()
	}
}

func (b *benchmark) EchoSum(
	stream grpc.BidiStreamingServer[pb.SumRequest, pb.SumReply],
) error {
	b.begin()
	sent := int64(0)
	defer func() { b.end(sent) }()
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
		sent++
	}
}
