package benchmark;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.core.NestedExceptionUtils;

/** Starts Spring Boot, whose starter serves BenchmarkService over TLS. */
@SpringBootApplication
public class Application {
  public static void main(String[] args) {
    // Runs once the servers are closed. Otherwise the JVM would end with the signal's exit code,
    // 143.
    SpringApplication.getShutdownHandlers().add(() -> Runtime.getRuntime().halt(0));
    try {
      SpringApplication.run(Application.class, args);
    } catch (RuntimeException error) {
      System.err.println("spring-grpc: " + NestedExceptionUtils.getMostSpecificCause(error));
      Runtime.getRuntime().halt(1);
    }
  }
}
