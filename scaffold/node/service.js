// The four methods of benchmark.BenchmarkService, left to fill in. requests/benchmark.proto says
// what each returns; `| 0` wraps a sum around like int32 addition, as it asks.

import grpc from '@grpc/grpc-js';

// TODO: callback(null, reply), with result: a + b.
function getSum(call, callback) {
  callback(leftToFillIn('GetSum'));
}

// TODO: count replies, but at least one; the i-th, from 0, is a + b + i. When call.write()
// returns false, go on at 'drain'.
function streamSum(call) {
  call.emit('error', leftToFillIn('StreamSum'));
}

// TODO: at 'end', one reply: the sum of every a and b that came as 'data'.
function collectSum(call, callback) {
  callback(leftToFillIn('CollectSum'));
}

// TODO: write the a + b of each request as it comes, and end the call at 'end'. When call.write()
// returns false, pause it until 'drain'.
function echoSum(call) {
  call.emit('error', leftToFillIn('EchoSum'));
}

function leftToFillIn(name) {
  return { code: grpc.status.UNIMPLEMENTED, details: `${name} is left to fill in` };
}

export const benchmarkService = {
  GetSum: getSum,
  StreamSum: streamSum,
  CollectSum: collectSum,
  EchoSum: echoSum,
};
