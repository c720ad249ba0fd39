package benchmark;

import com.linecorp.armeria.common.TlsKeyPair;
import com.linecorp.armeria.server.Server;
import com.linecorp.armeria.server.grpc.GrpcService;
import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Answers BenchmarkService: in clear text (h2c) on port 8080 and over TLS on port 8443. */
public final class Main {
  private static final Duration STOP_QUIET = Duration.ofMillis(50);
  private static final Duration STOP_GRACE = Duration.ofSeconds(1);
  private static final long STOP_LIMIT_MS = 1300;

  private Main() {}

  public static void main(String[] args) {
    try {
      var server = newServer();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server)));
      server.start().join();
    } catch (IOException error) {
      fail(error.getMessage());
    } catch (CompletionException error) {
      fail("cannot listen: " + error.getCause().getMessage());
    }
  }

  private static Server newServer() throws IOException {
    var builder =
        Server.builder()
            .http(port("PORT_H2C", "8080"))
            .https(port("PORT_TLS", "8443"))
            .service(GrpcService.builder().addService(new BenchmarkService()).build())
            // A stream may last longer, and bring more, than the 10 s and the 10 MiB of a request.
            .requestTimeout(Duration.ZERO)
            .maxRequestLength(0)
            .gracefulShutdownTimeout(STOP_QUIET, STOP_GRACE);
    var chain = new File(getenv("TLS_CERT", "/certs/server.crt"));
    var key = new File(getenv("TLS_KEY", "/certs/server.key"));
    try {
      return builder.tls(TlsKeyPair.of(key, chain)).build();
    } catch (IllegalArgumentException | IllegalStateException error) {
      throw new IOException(
          "cannot load the certificate %s with the key %s: %s"
              .formatted(chain, key, error.getCause().getMessage()));
    }
  }

  private static void fail(String reason) {
    System.err.println("armeria-grpc: " + reason);
    // No exit: that would run the hook, which ends the process without an error.
    Runtime.getRuntime().halt(1);
  }

  private static void stop(Server server) {
    try {
      server.stop().get(STOP_LIMIT_MS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException | InterruptedException error) {
      // All is closed by now. What is left are Netty's own two seconds, for tasks that come late.
    }
    // Otherwise the JVM would end with the signal's exit code, 143.
    Runtime.getRuntime().halt(0);
  }

  private static int port(String name, String fallback) {
    return Integer.parseInt(getenv(name, fallback));
  }

  private static String getenv(String name, String fallback) {
    String value = System.getenv(name);
    return value == null || value.isEmpty() ? fallback : value;
  }
}
