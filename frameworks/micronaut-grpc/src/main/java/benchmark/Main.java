package benchmark;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.grpc.server.GrpcEmbeddedServer;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Starts Micronaut's server once in each environment: h2c in clear text, and tls. */
public final class Main {
  // Held here, since a logger that nobody refers to forgets its level. Below SEVERE, gRPC reports
  // each stream that a client cuts off.
  private static final Logger GRPC_LOGGER = Logger.getLogger("io.grpc");

  private Main() {}

  public static void main(String[] args) throws InterruptedException {
    GRPC_LOGGER.setLevel(Level.SEVERE);
    try {
      var h2c = newServer("h2c");
      var tls = newServer("tls");
      // Micronaut does without TLS where a file is missing.
      if (!tls.getServerConfiguration().isSecure()) {
        throw new ConfigurationException("cannot read the certificate or its key (TLS_CERT, TLS_KEY)");
      }
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(List.of(h2c, tls))));
      h2c.start();
      tls.start();
      h2c.getServer().awaitTermination();
    } catch (RuntimeException error) {
      System.err.println("micronaut-grpc: " + rootCause(error));
      // No exit: that would run the hook, which ends the process without an error.
      Runtime.getRuntime().halt(1);
    }
  }

  private static GrpcEmbeddedServer newServer(String environment) {
    return ApplicationContext.run(environment).getBean(GrpcEmbeddedServer.class);
  }

  private static void stop(List<GrpcEmbeddedServer> servers) {
    servers.parallelStream().forEach(GrpcEmbeddedServer::stop);
    // Otherwise the JVM would end with the signal's exit code, 143.
    Runtime.getRuntime().halt(0);
  }

  private static Throwable rootCause(Throwable error) {
    return error.getCause() == null ? error : rootCause(error.getCause());
  }
}
