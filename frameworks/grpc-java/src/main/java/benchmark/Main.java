package benchmark;

import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.ServerCredentials;
import io.grpc.TlsServerCredentials;
import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Answers BenchmarkService: in clear text (h2c) on port 8080 and over TLS on port 8443. */
public final class Main {
  // Calls still open this long after SIGTERM are broken off.
  private static final long STOP_GRACE_MS = 1000;
  private static final long BREAK_OFF_MS = 300;

  // One thread for each CPU: the default pool has no bound.
  private static final Executor EXECUTOR = Executors.newWorkStealingPool();

  // Held here, since a logger that nobody refers to forgets its level. Below SEVERE, gRPC reports
  // each stream that a client cuts off.
  private static final Logger GRPC_LOGGER = Logger.getLogger("io.grpc");

  private Main() {}

  public static void main(String[] args) throws InterruptedException {
    GRPC_LOGGER.setLevel(Level.SEVERE);
    try {
      // Credentials belong to a Server, so each port has its own.
      var h2c = newServer(port("PORT_H2C", "8080"), InsecureServerCredentials.create());
      var servers = List.of(h2c, newTlsServer(port("PORT_TLS", "8443")));
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(servers)));
      for (Server server : servers) {
        server.start();
      }
      servers.get(0).awaitTermination();
    } catch (IOException error) {
      var cause = error.getCause();
      System.err.println(
          "grpc-java: " + error.getMessage() + (cause == null ? "" : ": " + cause.getMessage()));
      // No exit: that would run the hook, which ends the process without an error.
      Runtime.getRuntime().halt(1);
    }
  }

  private static Server newTlsServer(int port) throws IOException {
    var chain = new File(getenv("TLS_CERT", "/certs/server.crt"));
    var key = new File(getenv("TLS_KEY", "/certs/server.key"));
    try {
      return newServer(port, TlsServerCredentials.create(chain, key));
    } catch (IOException | IllegalArgumentException error) {
      throw new IOException(
          "cannot load the certificate %s with the key %s: %s"
              .formatted(chain, key, error.getMessage()));
    }
  }

  private static Server newServer(int port, ServerCredentials credentials) {
    return Grpc.newServerBuilderForPort(port, credentials)
        .executor(EXECUTOR)
        .addService(new BenchmarkService())
        .build();
  }

  private static void stop(List<Server> servers) {
    servers.forEach(Server::shutdown);
    await(servers, STOP_GRACE_MS);
    servers.forEach(Server::shutdownNow);
    await(servers, BREAK_OFF_MS);
    // Otherwise the JVM would end with the signal's exit code, 143.
    Runtime.getRuntime().halt(0);
  }

  private static void await(List<Server> servers, long timeoutMs) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    try {
      for (Server server : servers) {
        server.awaitTermination(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      }
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
  }

  private static int port(String name, String fallback) {
    return Integer.parseInt(getenv(name, fallback));
  }

  private static String getenv(String name, String fallback) {
    String value = System.getenv(name);
    return value == null || value.isEmpty() ? fallback : value;
  }
}
