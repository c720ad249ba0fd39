// Package pb is the Go code of requests/benchmark.proto. After a change there,
// run `go generate ./pb` with protoc 35.1, protoc-gen-go v1.36.12 and
// protoc-gen-connect-go v1.21.1 on the PATH.
package pb

//go:generate protoc --proto_path=../../../requests --go_out=. --go_opt=paths=source_relative --go_opt=Mbenchmark.proto=httparena/frameworks/connect-go/pb --connect-go_out=. --connect-go_opt=paths=source_relative,simple --connect-go_opt=Mbenchmark.proto=httparena/frameworks/connect-go/pb benchmark.proto
