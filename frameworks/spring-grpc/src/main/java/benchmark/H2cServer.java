package benchmark;

import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.grpc.server.autoconfigure.GrpcServerProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.grpc.server.NettyGrpcServerFactory;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.grpc.server.service.GrpcServiceConfigurer;
import org.springframework.grpc.server.service.GrpcServiceDiscoverer;

/** A second server beside the starter's, which has one port: the same services in clear text. */
@Configuration(proxyBeanMethods = false)
class H2cServer {
  @Bean
  GrpcServerLifecycle h2cServerLifecycle(
      @Value("${h2c.port}") int port,
      GrpcServiceDiscoverer discoverer,
      GrpcServiceConfigurer configurer,
      GrpcServerProperties properties,
      ApplicationEventPublisher events) {
    // No bean: a second factory would take the place of the starter's.
    var factory = new NettyGrpcServerFactory("*:" + port, List.of(), null, null, null);
    for (var service : discoverer.findServices()) {
      factory.addService(configurer.configure(service, factory));
    }
    return new GrpcServerLifecycle(factory, properties.getShutdown().getGracePeriod(), events);
  }
}
