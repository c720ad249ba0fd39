package benchmark;

import io.grpc.servlet.jakarta.GrpcServlet;
import io.grpc.util.CertificateUtils;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** Answers BenchmarkService: in clear text (h2c) on port 8080 and over TLS on port 8443. */
public final class Main {
  private static final String NO_PASSWORD = "";
  private static final Logger SERVLET = Logger.getLogger("io.grpc.servlet");

  private Main() {}

  public static void main(String[] args) {
    // At WARNING, it logs a stack trace for each call that a client breaks off.
    SERVLET.setLevel(Level.SEVERE);
    try {
      var server = new Server();
      listen(server, port("PORT_H2C", "8080"), h2c());
      listen(server, port("PORT_TLS", "8443"), tls());
      var context = new ServletContextHandler();
      context.addServlet(new ServletHolder(new GrpcServlet(List.of(new SumService()))), "/*");
      server.setHandler(context);
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server)));
      server.start();
    } catch (Exception error) {
      System.err.println("jetty-grpc: " + error);
      Runtime.getRuntime().halt(1);
    }
  }

  private static void listen(Server server, int port, ConnectionFactory... factories) {
    var connector = new ServerConnector(server, factories);
    connector.setPort(port);
    server.addConnector(connector);
  }

  private static ConnectionFactory h2c() {
    return new HTTP2CServerConnectionFactory(new HttpConfiguration());
  }

  private static ConnectionFactory[] tls() throws IOException, GeneralSecurityException {
    var configuration = new HttpConfiguration();
    // Without the check that the certificate bears the name, or the address, that the client uses.
    configuration.addCustomizer(new SecureRequestCustomizer(false));
    var context = new SslContextFactory.Server();
    context.setKeyStore(keyStore());
    context.setKeyStorePassword(NO_PASSWORD);
    var alpn = new ALPNServerConnectionFactory();
    return new ConnectionFactory[] {
      new SslConnectionFactory(context, alpn.getProtocol()),
      alpn,
      new HTTP2ServerConnectionFactory(configuration)
    };
  }

  private static KeyStore keyStore() throws IOException, GeneralSecurityException {
    var chainPath = Path.of(getenv("TLS_CERT", "/certs/server.crt"));
    var keyPath = Path.of(getenv("TLS_KEY", "/certs/server.key"));
    try (var chain = Files.newInputStream(chainPath);
        var key = Files.newInputStream(keyPath)) {
      var store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      store.setKeyEntry(
          "server",
          CertificateUtils.getPrivateKey(key),
          NO_PASSWORD.toCharArray(),
          CertificateUtils.getX509Certificates(chain));
      return store;
    }
  }

  private static void stop(Server server) {
    try {
      server.stop();
    } catch (Exception error) {
      // The calls that are still open are broken off by the end of the process.
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
