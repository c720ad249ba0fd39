package benchmark;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.grpc.server.GrpcServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Answers BenchmarkService: in clear text (h2c) on port 8080 and over TLS on port 8443. */
public final class ServerVerticle extends VerticleBase {
  // So long may the open calls take to end.
  private static final long STOP_GRACE_MS = 1000;

  private final List<HttpServer> servers = new ArrayList<>();

  @Override
  public Future<?> start() {
    var grpc = GrpcServer.server(vertx);
    SumService.bind(grpc);
    return listen(grpc, port("PORT_H2C", "8080"), new HttpServerOptions())
        .compose(h2c -> listen(grpc, port("PORT_TLS", "8443"), tls()));
  }

  @Override
  public Future<?> stop() {
    return Future.join(
        servers.stream().map(each -> each.shutdown(STOP_GRACE_MS, TimeUnit.MILLISECONDS)).toList());
  }

  private Future<HttpServer> listen(GrpcServer grpc, int port, HttpServerOptions options) {
    return vertx
        .createHttpServer(options)
        .requestHandler(grpc)
        .listen(port, "::")
        .onSuccess(servers::add)
        .recover(error -> Future.failedFuture(cannotListen(port, error)));
  }

  private static IOException cannotListen(int port, Throwable error) {
    return new IOException("cannot listen on port " + port + ": " + error.getMessage(), error);
  }

  private static HttpServerOptions tls() {
    return new HttpServerOptions()
        .setSsl(true)
        .setUseAlpn(true)
        .setKeyCertOptions(
            new PemKeyCertOptions()
                .setCertPath(getenv("TLS_CERT", "/certs/server.crt"))
                .setKeyPath(getenv("TLS_KEY", "/certs/server.key")));
  }

  private static int port(String name, String fallback) {
    return Integer.parseInt(getenv(name, fallback));
  }

  private static String getenv(String name, String fallback) {
    String value = System.getenv(name);
    return value == null || value.isEmpty() ? fallback : value;
  }
}
