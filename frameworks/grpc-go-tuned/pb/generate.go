// Package pb is the Go code of requests/benchmark.proto. After a change there,
// run `go generate ./pb` with protoc 35.1, protoc-gen-go v1.36.12 and
// protoc-gen-go-grpc v1.6.2 on the PATH.
package pb

//go:generate protoc --proto_path=../../../requests --go_out=. --go_opt=paths=source_relative --go_opt=Mbenchmark.proto=httparena/frameworks/grpc-go-tuned/pb --go-grpc_out=. --go-grpc_opt=paths=source_relative --go-grpc_opt=Mbenchmark.proto=httparena/frameworks/grpc-go-tuned/pb benchmark.proto
