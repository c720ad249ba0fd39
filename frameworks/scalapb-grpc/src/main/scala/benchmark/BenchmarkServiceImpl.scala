package benchmark

import benchmark.BenchmarkServiceGrpc.BenchmarkService
import io.grpc.stub.{ServerCallStreamObserver, StreamObserver}
import scala.concurrent.Future

/** The four calls. None of them blocks, and gRPC makes one callback of a call at a time. */
final class BenchmarkServiceImpl extends BenchmarkService {
  // A stream is ready while fewer bytes of replies wait. Netty keeps each in two buffers of 4 KiB.
  private val WaitingBytes = 1024

  override def getSum(request: SumRequest): Future[SumReply] =
    Future.successful(sumOf(request))

  override def streamSum(request: StreamRequest, observer: StreamObserver[SumReply]): Unit = {
    val replies = serverCall(observer)
    replies.setOnReadyThreshold(WaitingBytes)
    val steps = Iterator.range(0, request.count.max(1))
    // A call that has ended, or that the client has cancelled, is never ready again.
    replies.setOnReadyHandler { () =>
      while (replies.isReady) {
        replies.onNext(SumReply(request.a + request.b + steps.next()))
        if (!steps.hasNext) replies.onCompleted()
      }
    }
  }

  override def collectSum(reply: StreamObserver[SumReply]): StreamObserver[SumRequest] =
    new StreamObserver[SumRequest] {
      private var total = 0

      override def onNext(request: SumRequest): Unit = total += request.a + request.b

      override def onError(cancelled: Throwable): Unit = ()

      override def onCompleted(): Unit = {
        reply.onNext(SumReply(total))
        reply.onCompleted()
      }
    }

  override def echoSum(observer: StreamObserver[SumReply]): StreamObserver[SumRequest] =
    new SumEcho(serverCall(observer))

  /** Answers each request of one EchoSum, and asks for the next when the client has room. */
  private final class SumEcho(replies: ServerCallStreamObserver[SumReply])
      extends StreamObserver[SumRequest] {
    private var waiting = true

    replies.disableAutoRequest()
    replies.setOnReadyHandler(() => resume())

    // A late event must not ask for a second request while one is on its way.
    private def resume(): Unit =
      if (waiting && replies.isReady) {
        waiting = false
        replies.request(1)
      }

    override def onNext(request: SumRequest): Unit = {
      replies.onNext(sumOf(request))
      waiting = true
      resume()
    }

    override def onError(cancelled: Throwable): Unit = ()

    override def onCompleted(): Unit = replies.onCompleted()
  }

  private def sumOf(request: SumRequest): SumReply = SumReply(request.a + request.b)

  private def serverCall(observer: StreamObserver[SumReply]): ServerCallStreamObserver[SumReply] =
    observer.asInstanceOf[ServerCallStreamObserver[SumReply]]
}
