package main

import (
	"errors"
	"io"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	_ "google.golang.org/protobuf/types/known/wrapperspb"
)

// replies is the number of replies in a stream that answers one request.
const replies = 3

// load registers the files of a compiled set, for reflection, and returns their services.
func load(protoset string) ([]protoreflect.ServiceDescriptor, error) {
	bytes, err := os.ReadFile(protoset)
	if err != nil {
		return nil, err
	}
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(bytes, set); err != nil {
		return nil, err
	}
	var services []protoreflect.ServiceDescriptor
	for _, file := range set.GetFile() {
		if _, err := protoregistry.GlobalFiles.FindFileByPath(file.GetName()); err == nil {
			continue // a well-known one
		}
		described, err := protodesc.NewFile(file, protoregistry.GlobalFiles)
		if err != nil {
			return nil, err
		}
		if err := protoregistry.GlobalFiles.RegisterFile(described); err != nil {
			return nil, err
		}
		for i := range described.Services().Len() {
			services = append(services, described.Services().Get(i))
		}
	}
	return services, nil
}

// greeter answers every call of every service of a set. A reply holds a greeting if it has a text
// field. A call that is answered by a stream gets three replies; a call in both directions gets one
// for each request. The metadata `compress` names how replies are compressed.
type greeter struct{ *counts }

// registerGreeters serves what a compiled set describes.
func registerGreeters(server *grpc.Server, protoset string, counts *counts) error {
	services, err := load(protoset)
	for _, service := range services {
		server.RegisterService(greeter{counts}.service(service), nil)
	}
	return err
}

// service describes a service whose every method is a stream to grpc-go, which the wire does not show.
func (g greeter) service(described protoreflect.ServiceDescriptor) *grpc.ServiceDesc {
	service := &grpc.ServiceDesc{
		ServiceName: string(described.FullName()),
		Metadata:    described.ParentFile().Path(),
	}
	for i := range described.Methods().Len() {
		method := described.Methods().Get(i)
		service.Streams = append(service.Streams, grpc.StreamDesc{
			StreamName:    string(method.Name()),
			Handler:       func(_ any, stream grpc.ServerStream) error { return g.call(method, stream) },
			ServerStreams: true,
			ClientStreams: true,
		})
	}
	return service
}

func (g greeter) call(method protoreflect.MethodDescriptor, stream grpc.ServerStream) error {
	messages := int64(0)
	g.begin()
	defer func() { g.end(messages) }()
	if asked := metadata.ValueFromIncomingContext(stream.Context(), "compress"); len(asked) > 0 {
		if err := grpc.SetSendCompressor(stream.Context(), asked[0]); err != nil {
			return err
		}
	}
	inBoth := method.IsStreamingClient() && method.IsStreamingServer()
	var last *dynamicpb.Message
	for {
		request := dynamicpb.NewMessage(method.Input())
		err := stream.RecvMsg(request)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		messages++
		last = request
		if inBoth {
			if err := reply(method, request, stream); err != nil {
				return err
			}
			messages++
		}
	}
	left := 1
	switch {
	case inBoth:
		left = 0
	case method.IsStreamingServer():
		left = replies
	}
	for range left {
		if err := reply(method, last, stream); err != nil {
			return err
		}
		messages++
	}
	return nil
}

// reply greets whoever the first text field of a request names, in that of the reply.
func reply(
	method protoreflect.MethodDescriptor, request *dynamicpb.Message, stream grpc.ServerStream,
) error {
	name := ""
	if field := text(method.Input()); field != nil && request != nil {
		name = request.Get(field).String()
	}
	reply := dynamicpb.NewMessage(method.Output())
	if field := text(method.Output()); field != nil {
		reply.Set(field, protoreflect.ValueOfString("Hello "+name))
	}
	return stream.SendMsg(reply)
}

func text(message protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	fields := message.Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if field.Kind() == protoreflect.StringKind && field.Cardinality() != protoreflect.Repeated {
			return field
		}
	}
	return nil
}
