package main

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"google.golang.org/grpc"

	"httparena/frameworks/grpc-go/pb"
)

// countingService answers as frameworks/grpc-go does. A call counts its messages by itself and
// adds them up at its end, so that counting costs a message nothing.
type countingService struct {
	pb.UnimplementedBenchmarkServiceServer
	open, calls, messages atomic.Int64
}

// counts is what stands in the line that answers SIGUSR1.
func (s *countingService) counts() map[string]int64 {
	return map[string]int64{
		"open":     s.open.Load(),
		"calls":    s.calls.Load(),
		"messages": s.messages.Load(),
	}
}

func (s *countingService) begin() { s.open.Add(1) }

// end is called with the number of replies that were sent in a call.
func (s *countingService) end(messages int64) {
	s.messages.Add(messages)
	s.calls.Add(1)
	s.open.Add(-1)
}

func (s *countingService) GetSum(
	_ context.Context, request *pb.SumRequest,
) (*pb.SumReply, error) {
	s.begin()
	defer s.end(1)
	return &pb.SumReply{Result: request.GetA() + request.GetB()}, nil
}

func (s *countingService) StreamSum(
	request *pb.StreamRequest, replies grpc.ServerStreamingServer[pb.SumReply],
) error {
	s.begin()
	sent := int64(0)
	defer func() { s.end(sent) }()
	sum := request.GetA() + request.GetB()
	for i := range max(request.GetCount(), 1) {
		if err := replies.Send(&pb.SumReply{Result: sum + i}); err != nil {
			return err
		}
		sent++
	}
	return nil
}

func (s *countingService) CollectSum(
	stream grpc.ClientStreamingServer[pb.SumRequest, pb.SumReply],
) error {
	s.begin()
	sent := int64(0)
	defer func() { s.end(sent) }()
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

func (s *countingService) EchoSum(
	stream grpc.BidiStreamingServer[pb.SumRequest, pb.SumReply],
) error {
	s.begin()
	sent := int64(0)
	defer func() { s.end(sent) }()
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
