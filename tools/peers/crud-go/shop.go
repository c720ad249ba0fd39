package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
)

// shop serves volley/examples/shop.proto. Each of its messages has one field, number 1, so they need
// no generated code.
type shop struct {
	sessions, open, calls, messages atomic.Int64
}

// number and text are messages with such a field.
type (
	number int32
	text   string
)

func (s *shop) register(server *grpc.Server) {
	login := func(
		_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor,
	) (any, error) {
		return s.login(decode)
	}
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "shop.Auth",
		Methods:     []grpc.MethodDesc{{MethodName: "Login", Handler: login}},
	}, nil)
	watch := func(_ any, stream grpc.ServerStream) error { return s.watch(stream) }
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "shop.Orders",
		Streams:     []grpc.StreamDesc{{StreamName: "Watch", Handler: watch, ServerStreams: true}},
	}, nil)
}

// login begins a session.
func (s *shop) login(decode func(any) error) (any, error) {
	s.open.Add(1)
	defer s.open.Add(-1)
	var user text
	if err := decode(&user); err != nil {
		return nil, err
	}
	session := text(id(s.sessions.Add(1) - 1))
	inner, err := wire{}.Marshal(&session)
	if err != nil {
		return nil, err
	}
	reply := text(inner.Materialize())
	s.messages.Add(1)
	s.calls.Add(1)
	return &reply, nil
}

// watch sends as many events as the client wants, to the owner of a session.
func (s *shop) watch(stream grpc.ServerStream) error {
	sent := int64(0)
	s.open.Add(1)
	defer func() {
		s.messages.Add(sent)
		s.calls.Add(1)
		s.open.Add(-1)
	}()
	sessions := metadata.ValueFromIncomingContext(stream.Context(), "x-session")
	if len(sessions) != 1 {
		return status.Error(codes.Unauthenticated, "the metadata x-session is missing")
	}
	if session, ok := numberOf(sessions[0]); !ok || session >= s.sessions.Load() {
		return status.Error(codes.Unauthenticated, "there is no such session")
	}
	var count number
	if err := stream.RecvMsg(&count); err != nil {
		return err
	}
	for seq := range count {
		if err := stream.SendMsg(&seq); err != nil {
			return err
		}
		sent++
	}
	return nil
}

// wire is protobuf for messages with one field, a number or a text.
type wire struct{}

func (wire) Name() string { return "proto" }

func (wire) Marshal(message any) (mem.BufferSlice, error) {
	var out []byte
	switch message := message.(type) {
	case *number:
		if *message != 0 {
			out = protowire.AppendTag(out, 1, protowire.VarintType)
			out = protowire.AppendVarint(out, uint64(int64(*message)))
		}
	case *text:
		out = protowire.AppendTag(out, 1, protowire.BytesType)
		out = protowire.AppendString(out, string(*message))
	default:
		return nil, fmt.Errorf("%T is no message of the shop", message)
	}
	return mem.BufferSlice{mem.SliceBuffer(out)}, nil
}

// errWire is the error of bytes that are not protobuf.
var errWire = errors.New("the message is not valid protobuf")

func (wire) Unmarshal(data mem.BufferSlice, message any) error {
	rest := data.Materialize()
	for len(rest) > 0 {
		field, kind, n := protowire.ConsumeTag(rest)
		if n < 0 {
			return errWire
		}
		value := rest[n:]
		if n = protowire.ConsumeFieldValue(field, kind, value); n < 0 {
			return errWire
		}
		rest = value[n:]
		if field != 1 {
			continue
		}
		switch message := message.(type) {
		case *number:
			if kind == protowire.VarintType {
				varint, _ := protowire.ConsumeVarint(value)
				*message = number(varint)
			}
		case *text:
			if kind == protowire.BytesType {
				string, _ := protowire.ConsumeString(value)
				*message = text(string)
			}
		}
	}
	return nil
}
