package benchmark;

import benchmark.Benchmark.StreamRequest;
import benchmark.Benchmark.SumReply;
import benchmark.Benchmark.SumRequest;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.quarkus.grpc.GrpcService;
import io.vertx.core.Context;
import io.vertx.core.Vertx;

/** The four calls. None of them blocks, and gRPC makes one callback of a call at a time. */
@GrpcService
public class SumService extends BenchmarkServiceGrpc.BenchmarkServiceImplBase {
  @Override
  public void getSum(SumRequest request, StreamObserver<SumReply> reply) {
    reply.onNext(sum(request.getA() + request.getB()));
    reply.onCompleted();
  }

  @Override
  public void streamSum(StreamRequest request, StreamObserver<SumReply> observer) {
    var replies = (ServerCallStreamObserver<SumReply>) observer;
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
    private static final int PREFIX_BYTES = 5;

    // So much is written before it is the turn of others on this event loop. At first that is what
    // fits into HTTP/2's default window, for Vert.x flushes what a request has written all at once;
    // what is written later it flushes reply by reply, which takes its time.
    private static final int FIRST_TURN_BYTES = 65_535;
    private static final int LATER_TURN_BYTES = 1024;

    private final ServerCallStreamObserver<SumReply> replies;
    private final Context eventLoop = Vertx.currentContext();
    private final int first;
    private final int count;
    private int sent;
    private int turnBytes = FIRST_TURN_BYTES;

    SumSource(StreamRequest request, ServerCallStreamObserver<SumReply> replies) {
      this.replies = replies;
      first = request.getA() + request.getB();
      count = Math.max(request.getCount(), 1);
    }

    @Override
    public void run() {
      int written = 0;
      while (sent < count && replies.isReady() && !replies.isCancelled()) {
        if (written >= turnBytes) {
          turnBytes = LATER_TURN_BYTES;
          eventLoop.runOnContext(next -> run());
          return;
        }
        var reply = sum(first + sent);
        written += PREFIX_BYTES + reply.getSerializedSize();
        replies.onNext(reply);
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
