package main

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"httparena/frameworks/grpc-go/pb"
)

// benchmarkService is left to fill in. requests/benchmark.proto says what each
// call returns; Go's int32 addition wraps around, as it asks.
type benchmarkService struct {
	pb.UnimplementedBenchmarkServiceServer
}

// TODO: one reply, a + b.
func (benchmarkService) GetSum(_ context.Context, request *pb.SumRequest) (*pb.SumReply, error) {
	return nil, status.Error(codes.Unimplemented, "GetSum is left to fill in")
}

// TODO: count replies, but at least one; the i-th, from 0, is a + b + i. An
// error of Send means that the client has gone: return it.
func (benchmarkService) StreamSum(
	request *pb.StreamRequest, replies grpc.ServerStreamingServer[pb.SumReply],
) error {
	return status.Error(codes.Unimplemented, "StreamSum is left to fill in")
}

// TODO: receive until io.EOF, then one reply: the sum of every a and b.
func (benchmarkService) CollectSum(
	stream grpc.ClientStreamingServer[pb.SumRequest, pb.SumReply],
) error {
	return status.Error(codes.Unimplemented, "CollectSum is left to fill in")
}

// TODO: answer each request with its a + b before the next is received, until
// io.EOF.
func (benchmarkService) EchoSum(
	stream grpc.BidiStreamingServer[pb.SumRequest, pb.SumReply],
) error {
	return status.Error(codes.Unimplemented, "EchoSum is left to fill in")
}
