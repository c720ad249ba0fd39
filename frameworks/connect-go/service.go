package main

import (
	"context"
	"errors"
	"io"

	"connectrpc.com/connect"

	"httparena/frameworks/connect-go/pb"
	"httparena/frameworks/connect-go/pb/pbconnect"
)

// benchmarkService relies on Go's int32 addition wrapping around, as the
// .proto asks.
type benchmarkService struct {
	pbconnect.UnimplementedBenchmarkServiceHandler
}

func (benchmarkService) GetSum(_ context.Context, request *pb.SumRequest) (*pb.SumReply, error) {
	return &pb.SumReply{Result: request.GetA() + request.GetB()}, nil
}

func (benchmarkService) StreamSum(
	_ context.Context, request *pb.StreamRequest, replies *connect.ServerStream[pb.SumReply],
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
	_ context.Context, requests *connect.ClientStream[pb.SumRequest],
) (*pb.SumReply, error) {
	var total int32
	for requests.Receive() {
		request := requests.Msg()
		total += request.GetA() + request.GetB()
	}
	return &pb.SumReply{Result: total}, requests.Err()
}

func (benchmarkService) EchoSum(
	_ context.Context, stream *connect.BidiStream[pb.SumRequest, pb.SumReply],
) error {
	for {
		request, err := stream.Receive()
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
