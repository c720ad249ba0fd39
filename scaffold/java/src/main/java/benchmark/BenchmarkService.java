package benchmark;

import benchmark.Benchmark.StreamRequest;
import benchmark.Benchmark.SumReply;
import benchmark.Benchmark.SumRequest;
import io.grpc.stub.StreamObserver;

/**
 * The four calls, left to fill in: the superclass answers that they are not implemented.
 * requests/benchmark.proto says what each returns; Java's int addition wraps around, as it asks.
 *
 * <p>Nothing in here may block: it runs on the transport's threads.
 */
final class BenchmarkService extends BenchmarkServiceGrpc.BenchmarkServiceImplBase {
  // TODO: one reply, a + b.
  @Override
  public void getSum(SumRequest request, StreamObserver<SumReply> reply) {
    super.getSum(request, reply);
  }

  // TODO: count replies, but at least one; the i-th, from 0, is a + b + i. The observer is a
  // ServerCallStreamObserver: send while it is ready, and go on in its onReadyHandler.
  @Override
  public void streamSum(StreamRequest request, StreamObserver<SumReply> replies) {
    super.streamSum(request, replies);
  }

  // TODO: one reply when the requests have ended: the sum of every a and b.
  @Override
  public StreamObserver<SumRequest> collectSum(StreamObserver<SumReply> reply) {
    return super.collectSum(reply);
  }

  // TODO: answer each request with its a + b, and ask for the next when the observer is ready.
  @Override
  public StreamObserver<SumRequest> echoSum(StreamObserver<SumReply> replies) {
    return super.echoSum(replies);
  }
}
