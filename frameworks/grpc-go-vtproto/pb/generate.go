// Package pb is the Go code of requests/benchmark.proto. After a change there,
// run `go generate ./pb` with protoc 35.1, protoc-gen-go v1.36.12,
// protoc-gen-go-grpc v1.6.2 and the protoc-gen-go-vtproto of the version in go.mod on
// the PATH.
package pb

//go:generate protoc --proto_path=../../../requests --go_out=. --go_opt=paths=source_relative --go_opt=Mbenchmark.proto=httparena/frameworks/grpc-go-vtproto/pb --go-grpc_out=. --go-grpc_opt=paths=source_relative --go-grpc_opt=Mbenchmark.proto=httparena/frameworks/grpc-go-vtproto/pb --go-vtproto_out=. --go-vtproto_opt=paths=source_relative --go-vtproto_opt=Mbenchmark.proto=httparena/frameworks/grpc-go-vtproto/pb --go-vtproto_opt=features=marshal+unmarshal+size benchmark.proto
