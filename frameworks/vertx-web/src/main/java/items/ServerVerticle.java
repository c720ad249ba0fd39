package items;

import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.PemKeyCertOptions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Serves items: HTTP/1.1 and h2c on one port, HTTP/1.1 and HTTP/2 over TLS on another. */
final class ServerVerticle extends VerticleBase {
  // So long may the open requests take to end.
  private static final long STOP_GRACE_MS = 1000;

  // The contract's least; Vert.x allows 100.
  private static final int STREAMS = 128;

  private final Items items;
  private final List<HttpServer> servers = new ArrayList<>();

  ServerVerticle(Items items) {
    this.items = items;
  }

  @Override
  public Future<?> start() {
    var router = items.router(vertx);
    return listen(router, port("PORT_H2C", "8080"), new HttpServerOptions())
        .compose(plaintext -> listen(router, port("PORT_TLS", "8443"), tls()));
  }

  @Override
  public Future<?> stop() {
    return Future.join(
        servers.stream().map(each -> each.shutdown(STOP_GRACE_MS, TimeUnit.MILLISECONDS)).toList());
  }

  private Future<HttpServer> listen(
      Handler<HttpServerRequest> router, int port, HttpServerOptions options) {
    options.getInitialSettings().setMaxConcurrentStreams(STREAMS);
    return vertx
        .createHttpServer(options)
        .requestHandler(router)
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
