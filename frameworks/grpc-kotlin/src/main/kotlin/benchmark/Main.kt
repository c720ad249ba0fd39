package benchmark

import io.grpc.Grpc
import io.grpc.InsecureServerCredentials
import io.grpc.Metadata
import io.grpc.Server
import io.grpc.ServerCall
import io.grpc.ServerCallHandler
import io.grpc.ServerCredentials
import io.grpc.ServerInterceptor
import io.grpc.TlsServerCredentials
import java.io.File
import java.io.IOException
import java.util.concurrent.TimeUnit.NANOSECONDS
import java.util.logging.Level
import java.util.logging.Logger
import kotlin.concurrent.thread
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.TimeSource
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asExecutor

// Calls still open this long after SIGTERM are broken off.
private val STOP_GRACE = 700.milliseconds
private val BREAK_OFF = 300.milliseconds

// gRPC's events run where the coroutines do: one thread for each CPU.
private val executor = Dispatchers.Default.asExecutor()

// Held here, since a logger that nobody refers to forgets its level.
private val grpcLogger = Logger.getLogger("io.grpc")

/** Answers BenchmarkService: in clear text (h2c) on port 8080 and over TLS on port 8443. */
fun main() {
    // Below SEVERE, gRPC reports each stream that a client cuts off.
    grpcLogger.level = Level.SEVERE
    try {
        // Credentials belong to a Server, so each port has its own.
        val servers = listOf(
            newServer(port("PORT_H2C", "8080"), InsecureServerCredentials.create()),
            newTlsServer(port("PORT_TLS", "8443")),
        )
        Runtime.getRuntime().addShutdownHook(thread(start = false) { stop(servers) })
        servers.forEach(Server::start)
        servers.first().awaitTermination()
    } catch (error: IOException) {
        System.err.println("grpc-kotlin: ${error.message}: ${error.cause?.message}")
        // No exit: that would run the hook, which ends the process without an error.
        Runtime.getRuntime().halt(1)
    }
}

private fun newTlsServer(port: Int): Server {
    val chain = File(getenv("TLS_CERT", "/certs/server.crt"))
    val key = File(getenv("TLS_KEY", "/certs/server.key"))
    val failure = "cannot load the certificate $chain with the key $key"
    try {
        return newServer(port, TlsServerCredentials.create(chain, key))
    } catch (error: IOException) {
        throw IOException(failure, error)
    } catch (error: IllegalArgumentException) {
        throw IOException(failure, error)
    }
}

private fun newServer(port: Int, credentials: ServerCredentials): Server =
    Grpc.newServerBuilderForPort(port, credentials)
        .executor(executor)
        .addService(BenchmarkService())
        .intercept(SmallQueue)
        .build()

// A stream is ready while fewer bytes of replies wait. Netty keeps each in a buffer of 4 KiB.
private const val WAITING_BYTES = 1024

// The coroutine stubs hide the call.
private object SmallQueue : ServerInterceptor {
    override fun <Q, A> interceptCall(
        call: ServerCall<Q, A>,
        headers: Metadata,
        next: ServerCallHandler<Q, A>,
    ): ServerCall.Listener<Q> {
        call.setOnReadyThreshold(WAITING_BYTES)
        return next.startCall(call, headers)
    }
}

private fun stop(servers: List<Server>) {
    servers.forEach(Server::shutdown)
    servers.await(STOP_GRACE)
    servers.forEach(Server::shutdownNow)
    servers.await(BREAK_OFF)
    // Otherwise the JVM would end with the signal's exit code, 143.
    Runtime.getRuntime().halt(0)
}

private fun List<Server>.await(limit: Duration) {
    val deadline = TimeSource.Monotonic.markNow() + limit
    forEach { it.awaitTermination(-deadline.elapsedNow().inWholeNanoseconds, NANOSECONDS) }
}

private fun port(name: String, fallback: String): Int = getenv(name, fallback).toInt()

private fun getenv(name: String, fallback: String): String =
    System.getenv(name).orEmpty().ifEmpty { fallback }
