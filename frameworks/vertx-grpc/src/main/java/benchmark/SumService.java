package benchmark;

import benchmark.Benchmark.StreamRequest;
import benchmark.Benchmark.SumReply;
import benchmark.Benchmark.SumRequest;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.grpc.server.GrpcServer;
import io.vertx.grpc.server.GrpcServerRequest;
import io.vertx.grpc.server.GrpcServerResponse;

/** The four calls. Each runs on the event loop of its connection, and so needs no locks. */
final class SumService {
  private SumService() {}

  static void bind(GrpcServer server) {
    server.callHandler(BenchmarkServiceGrpcService.GetSum, SumService::getSum);
    server.callHandler(BenchmarkServiceGrpcService.StreamSum, SumService::streamSum);
    server.callHandler(BenchmarkServiceGrpcService.CollectSum, SumService::collectSum);
    server.callHandler(BenchmarkServiceGrpcService.EchoSum, SumService::echoSum);
  }

  private static void getSum(GrpcServerRequest<SumRequest, SumReply> call) {
    call.handler(request -> call.response().end(reply(request.getA() + request.getB())));
  }

  private static void streamSum(GrpcServerRequest<StreamRequest, SumReply> call) {
    call.handler(request -> new SumSource(call, request).send());
  }

  private static void collectSum(GrpcServerRequest<SumRequest, SumReply> call) {
    var total = new Object() {
      int value;
    };
    call.handler(request -> total.value += request.getA() + request.getB());
    call.endHandler(end -> call.response().end(reply(total.value)));
  }

  private static void echoSum(GrpcServerRequest<SumRequest, SumReply> call) {
    var response = call.response();
    call.handler(
        request -> {
          response.write(reply(request.getA() + request.getB()));
          if (response.writeQueueFull()) {
            call.pause();
            response.drainHandler(drained -> call.resume());
          }
        });
    call.endHandler(end -> response.end());
    // Nothing can be written to a cancelled call, though there may be requests of it in the queue.
    call.errorHandler(cancelled -> call.handler(null));
  }

  /** Sends the replies of one StreamSum, as many at a time as the client has room for. */
  private static final class SumSource {
    private static final int PREFIX_BYTES = 5;

    // So much is written before it is the turn of others on this event loop. At first that is what
    // fits into HTTP/2's default window, for Vert.x flushes what a request has written all at once;
    // what is written later it flushes reply by reply, which takes its time.
    private static final int FIRST_TURN_BYTES = 65_535;
    private static final int LATER_TURN_BYTES = 1024;

    private final GrpcServerResponse<StreamRequest, SumReply> response;
    private final Context eventLoop = Vertx.currentContext();
    private final int first;
    private final int count;
    private int sent;
    private int turnBytes = FIRST_TURN_BYTES;
    private boolean cancelled;

    SumSource(GrpcServerRequest<StreamRequest, SumReply> call, StreamRequest request) {
      response = call.response();
      first = request.getA() + request.getB();
      count = Math.max(request.getCount(), 1);
      // One tells of a reset stream, the other of a lost connection.
      call.errorHandler(error -> cancelled = true);
      response.exceptionHandler(error -> cancelled = true);
      response.drainHandler(drained -> send());
    }

    void send() {
      int written = 0;
      // Nothing can be written to a cancelled call.
      while (!cancelled && !response.writeQueueFull()) {
        if (written >= turnBytes) {
          turnBytes = LATER_TURN_BYTES;
          eventLoop.runOnContext(next -> send());
          return;
        }
        var reply = reply(first + sent);
        written += PREFIX_BYTES + reply.getSerializedSize();
        sent++;
        if (sent == count) {
          response.end(reply);
          return;
        }
        response.write(reply);
      }
    }
  }

  private static SumReply reply(int result) {
    return SumReply.newBuilder().setResult(result).build();
  }
}
