package benchmark

import benchmark.BenchmarkServiceGrpc._
import io.grpc.Status
import io.grpc.stub.ServerCalls._
import io.grpc.stub.StreamObserver
import scala.concurrent.Future

/** The four calls, left to fill in: each answers that it is not implemented.
  * requests/benchmark.proto says what each returns; Scala's Int addition wraps around, as it asks.
  *
  * Nothing in here may block: there is one thread for each CPU.
  */
final class BenchmarkServiceImpl extends BenchmarkService {
  // TODO: one reply, a + b.
  override def getSum(request: SumRequest): Future[SumReply] = {
    val status = Status.UNIMPLEMENTED.withDescription("GetSum is left to fill in")
    Future.failed(status.asRuntimeException())
  }

  // TODO: count replies, but at least one; the i-th, from 0, is a + b + i. The observer is a
  // ServerCallStreamObserver: send while it is ready, and go on in its onReadyHandler.
  override def streamSum(request: StreamRequest, replies: StreamObserver[SumReply]): Unit =
    asyncUnimplementedUnaryCall(METHOD_STREAM_SUM, replies)

  // TODO: one reply when the requests have ended: the sum of every a and b.
  override def collectSum(reply: StreamObserver[SumReply]): StreamObserver[SumRequest] =
    asyncUnimplementedStreamingCall(METHOD_COLLECT_SUM, reply)

  // TODO: answer each request with its a + b, and ask for the next when the observer is ready.
  override def echoSum(replies: StreamObserver[SumReply]): StreamObserver[SumRequest] =
    asyncUnimplementedStreamingCall(METHOD_ECHO_SUM, replies)
}
