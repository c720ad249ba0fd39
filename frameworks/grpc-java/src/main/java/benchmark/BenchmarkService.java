package benchmark;

import benchmark.Benchmark.StreamRequest;
import benchmark.Benchmark.SumReply;
import benchmark.Benchmark.SumRequest;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;

/** The four calls. None of them blocks, and gRPC makes one callback of a call at a time. */
final class BenchmarkService extends BenchmarkServiceGrpc.BenchmarkServiceImplBase {
  // A stream is ready while fewer bytes of replies wait. Netty keeps each in a buffer of 4 KiB.
  private static final int WAITING_BYTES = 1024;

  @Override
  public void getSum(SumRequest request, StreamObserver<SumReply> reply) {
    reply.onNext(sum(request.getA() + request.getB()));
    reply.onCompleted();
  }

  @Override
  public void streamSum(StreamRequest request, StreamObserver<SumReply> observer) {
    var replies = (ServerCallStreamObserver<SumReply>) observer;
    replies.setOnReadyThreshold(WAITING_BYTES);
    replies.setOnReadyHandler(new SumSource(request, replies));
  }

  @Override
  public StreamObserver<SumRequest> collectSum(StreamObserver<SumReply> reply) {
    return new StreamObserver<>() {
      private int total;

      @Override
      public void onNext(SumRequest request) {
        total += request.getA() + request.getB();
      }

      @Override
      public void onError(Throwable cancelled) {}

      @Override
      public void onCompleted() {
        reply.onNext(sum(total));
        reply.onCompleted();
      }
    };
  }

  @Override
  public StreamObserver<SumRequest> echoSum(StreamObserver<SumReply> observer) {
    return new SumEcho((ServerCallStreamObserver<SumReply>) observer);
  }

  /** Sends the replies of one StreamSum, as many at a time as the client has room for. */
  private static final class SumSource implements Runnable {
    private final ServerCallStreamObserver<SumReply> replies;
    private final int first;
    private final int count;
    private int sent;

    SumSource(StreamRequest request, ServerCallStreamObserver<SumReply> replies) {
      this.replies = replies;
      first = request.getA() + request.getB();
      count = Math.max(request.getCount(), 1);
    }

    @Override
    public void run() {
      // A call that has ended, or that the client has cancelled, is never ready again.
      while (replies.isReady()) {
        replies.onNext(sum(first + sent));
        sent++;
        if (sent == count) {
          replies.onCompleted();
        }
      }
    }
  }

  /** Answers each request of one EchoSum, and asks for the next when the client has room. */
  private static final class SumEcho implements StreamObserver<SumRequest> {
    private final ServerCallStreamObserver<SumReply> replies;
    private boolean waiting = true;

    SumEcho(ServerCallStreamObserver<SumReply> replies) {
      this.replies = replies;
      replies.disableAutoRequest();
      replies.setOnReadyHandler(this::resume);
    }

    private void resume() {
      // A late event must not ask for a second request while one is on its way.
      if (waiting && replies.isReady()) {
        waiting = false;
        replies.request(1);
      }
    }

    @Override
    public void onNext(SumRequest request) {
      replies.onNext(sum(request.getA() + request.getB()));
      waiting = true;
      resume();
    }

    @Override
    public void onError(Throwable cancelled) {}

    @Override
    public void onCompleted() {
      replies.onCompleted();
    }
  }

  private static SumReply sum(int result) {
    return SumReply.newBuilder().setResult(result).build();
  }
}
