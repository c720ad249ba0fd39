// The four methods of benchmark.BenchmarkService. `| 0` wraps a sum around like int32 addition.

import { setImmediate } from "node:timers/promises";

import type { ServiceImpl } from "@connectrpc/connect";

import type { BenchmarkService, StreamRequest, SumRequest } from "./gen/benchmark_pb.js";

// Messages of a stream until others have their turn.
const MESSAGES_A_TURN = 32;

export const benchmarkService: ServiceImpl<typeof BenchmarkService> = {
  getSum({ a, b }) {
    return { result: (a + b) | 0 };
  },

  streamSum(request, { signal }) {
    return inTurns(sums(request), signal);
  },

  async collectSum(requests, { signal }) {
    let total = 0;
    for await (const { a, b } of inTurns(requests, signal)) {
      total = (total + a + b) | 0;
    }
    return { result: total };
  },

  echoSum(requests, { signal }) {
    return inTurns(echoes(requests), signal);
  },
};

function* sums({ a, b, count }: StreamRequest) {
  const replies = Math.max(count, 1);
  for (let i = 0; i < replies; i++) {
    yield { result: (a + b + i) | 0 };
  }
}

async function* echoes(requests: AsyncIterable<SumRequest>) {
  for await (const { a, b } of requests) {
    yield { result: (a + b) | 0 };
  }
}

/**
 * Passes messages on until the call is aborted.
 *
 * Awaiting promises that are settled does not go back to the event loop. Without a pause nothing
 * would be sent or received, on any connection, until each stream has filled its buffer or
 * emptied it.
 */
async function* inTurns<T>(messages: Iterable<T> | AsyncIterable<T>, signal: AbortSignal) {
  let passed = 0;
  for await (const message of messages) {
    yield message;
    passed += 1;
    if (passed % MESSAGES_A_TURN === 0) {
      await setImmediate();
      signal.throwIfAborted();
    }
  }
}
