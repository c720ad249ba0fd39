// The four methods of benchmark.BenchmarkService. `| 0` wraps a sum around like int32 addition.

import type {
  sendUnaryData,
  ServerDuplexStream,
  ServerReadableStream,
  ServerUnaryCall,
  ServerWritableStream,
} from "@grpc/grpc-js";

// The messages of benchmark.proto, as the proto loader makes them.
interface SumRequest {
  a: number;
  b: number;
}

interface StreamRequest extends SumRequest {
  count: number;
}

interface SumReply {
  result: number;
}

function getSum(call: ServerUnaryCall<SumRequest, SumReply>, callback: sendUnaryData<SumReply>) {
  const { a, b } = call.request;
  callback(null, { result: (a + b) | 0 });
}

function streamSum(call: ServerWritableStream<StreamRequest, SumReply>) {
  const { a, b, count } = call.request;
  const replies = Math.max(count, 1);
  let i = 0;

  // A cancelled call is destroyed: write() returns false then, and 'drain' never comes.
  function writeUntilFull() {
    while (i < replies) {
      const reply = { result: (a + b + i) | 0 };
      i++;
      if (!call.write(reply)) {
        call.once("drain", writeUntilFull);
        return;
      }
    }
    call.end();
  }
  writeUntilFull();
}

function collectSum(
  call: ServerReadableStream<SumRequest, SumReply>,
  callback: sendUnaryData<SumReply>,
) {
  let total = 0;
  call.on("data", ({ a, b }: SumRequest) => {
    total = (total + a + b) | 0;
  });
  call.on("end", () => callback(null, { result: total }));
}

function echoSum(call: ServerDuplexStream<SumRequest, SumReply>) {
  call.on("data", ({ a, b }: SumRequest) => {
    if (!call.write({ result: (a + b) | 0 })) {
      call.pause();
      call.once("drain", () => call.resume());
    }
  });
  call.on("end", () => call.end());
}

export const benchmarkService = {
  GetSum: getSum,
  StreamSum: streamSum,
  CollectSum: collectSum,
  EchoSum: echoSum,
};
