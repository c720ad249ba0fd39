package benchmark;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.annotations.QuarkusMain;

/** Starts Quarkus, which finds the service and listens as application.properties says. */
@QuarkusMain
public class Main {
  public static void main(String[] args) {
    Runtime.getRuntime().addShutdownHook(new Thread(Main::stop));
    Quarkus.run(null, Main::exit, args);
  }

  private static void stop() {
    Quarkus.blockingExit();
    // Otherwise the JVM would end with the signal's exit code, 143.
    Runtime.getRuntime().halt(0);
  }

  private static void exit(int code, Throwable error) {
    if (error != null) {
      System.err.println("quarkus-grpc: " + rootCause(error));
    }
    Runtime.getRuntime().halt(code);
  }

  private static Throwable rootCause(Throwable error) {
    return error.getCause() == null ? error : rootCause(error.getCause());
  }
}
