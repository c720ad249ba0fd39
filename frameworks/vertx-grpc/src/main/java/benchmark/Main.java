package benchmark;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Deploys a ServerVerticle for each CPU, and stops them all on SIGTERM. */
public final class Main {
  // Held here, since a logger that nobody refers to forgets its level. Below SEVERE, Netty remarks
  // on the machine, such as that it has no network card.
  private static final Logger NETTY_LOGGER = Logger.getLogger("io.netty");

  private static final long STOP_LIMIT_MS = 1000;

  private static volatile boolean stopping;

  private Main() {}

  public static void main(String[] args) {
    NETTY_LOGGER.setLevel(Level.SEVERE);
    var cpus = Runtime.getRuntime().availableProcessors();
    var vertx = Vertx.vertx();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(vertx)));
    try {
      vertx
          .deployVerticle(ServerVerticle::new, new DeploymentOptions().setInstances(cpus))
          .await();
    } catch (Exception error) {
      if (stopping) {
        return; // SIGTERM came before all was deployed, and the hook ends the process.
      }
      System.err.println("vertx-grpc: " + error.getMessage());
      // No exit: that would run the hook, which ends the process without an error.
      Runtime.getRuntime().halt(1);
    }
  }

  private static void stop(Vertx vertx) {
    stopping = true;
    try {
      vertx.close().await(STOP_LIMIT_MS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException error) {
      // The calls that are still open are broken off by the end of the process.
    }
    // Otherwise the JVM would end with the signal's exit code, 143.
    Runtime.getRuntime().halt(0);
  }
}
