package benchmark

import io.grpc.{Grpc, InsecureServerCredentials, Server, ServerCredentials, TlsServerCredentials}
import java.io.{File, IOException}
import java.util.concurrent.TimeUnit.NANOSECONDS
import java.util.logging.{Level, Logger}
import scala.concurrent.ExecutionContext
import scala.concurrent.duration._

/** Answers BenchmarkService: in clear text (h2c) on port 8080 and over TLS on port 8443. */
object Main {
  // Calls still open this long after SIGTERM are broken off.
  private val StopGrace = 700.millis
  private val BreakOff = 300.millis

  // One thread for each CPU: gRPC's default pool has no bound.
  private val executor = ExecutionContext.global

  // Held here, since a logger that nobody refers to forgets its level.
  private val loggers = Seq("io.grpc", "io.netty").map(Logger.getLogger)

  def main(args: Array[String]): Unit = {
    // Below SEVERE, gRPC reports each stream that a client cuts off.
    loggers.foreach(_.setLevel(Level.SEVERE))
    try {
      // Credentials belong to a Server, so each port has its own.
      val h2c = newServer(port("PORT_H2C", "8080"), InsecureServerCredentials.create())
      val servers = Seq(h2c, newTlsServer(port("PORT_TLS", "8443")))
      sys.addShutdownHook(stop(servers))
      servers.foreach(_.start())
      h2c.awaitTermination()
    } catch {
      case error: IOException =>
        val cause = Option(error.getCause).fold("")(": " + _.getMessage)
        Console.err.println(s"scalapb-grpc: ${error.getMessage}$cause")
        // No exit: that would run the hook, which ends the process without an error.
        Runtime.getRuntime.halt(1)
    }
  }

  private def newTlsServer(port: Int): Server = {
    val chain = new File(getenv("TLS_CERT", "/certs/server.crt"))
    val key = new File(getenv("TLS_KEY", "/certs/server.key"))
    try newServer(port, TlsServerCredentials.create(chain, key))
    catch {
      case error @ (_: IOException | _: IllegalArgumentException) =>
        throw new IOException(s"cannot load the certificate $chain with the key $key", error)
    }
  }

  private def newServer(port: Int, credentials: ServerCredentials): Server = {
    val builder = Grpc.newServerBuilderForPort(port, credentials)
    builder.executor(executor)
    builder.addService(BenchmarkServiceGrpc.bindService(new BenchmarkServiceImpl, executor))
    builder.build()
  }

  private def stop(servers: Seq[Server]): Unit = {
    servers.foreach(_.shutdown())
    await(servers, StopGrace)
    servers.foreach(_.shutdownNow())
    await(servers, BreakOff)
    // Otherwise the JVM would end with the signal's exit code, 143.
    Runtime.getRuntime.halt(0)
  }

  private def await(servers: Seq[Server], limit: FiniteDuration): Unit = {
    val deadline = limit.fromNow
    servers.foreach(_.awaitTermination(deadline.timeLeft.toNanos, NANOSECONDS))
  }

  private def port(name: String, fallback: String): Int = getenv(name, fallback).toInt

  private def getenv(name: String, fallback: String): String =
    sys.env.get(name).filter(_.nonEmpty).getOrElse(fallback)
}
