package benchmark

import benchmark.Benchmark.StreamRequest
import benchmark.Benchmark.SumReply
import benchmark.Benchmark.SumRequest
import kotlinx.coroutines.flow.Flow

/**
 * The four calls, left to fill in: the superclass answers that they are not implemented.
 * requests/benchmark.proto says what each returns; Kotlin's Int addition wraps around, as it asks.
 *
 * A flow is collected only as fast as its client reads, and is cancelled with its call.
 */
class BenchmarkService : BenchmarkServiceGrpcKt.BenchmarkServiceCoroutineImplBase() {
    // TODO: one reply, a + b.
    override suspend fun getSum(request: SumRequest): SumReply = super.getSum(request)

    // TODO: count replies, but at least one; the i-th, from 0, is a + b + i.
    override fun streamSum(request: StreamRequest): Flow<SumReply> = super.streamSum(request)

    // TODO: one reply when the requests have ended: the sum of every a and b.
    override suspend fun collectSum(requests: Flow<SumRequest>): SumReply =
        super.collectSum(requests)

    // TODO: answer each request with its a + b, before the next is asked for.
    override fun echoSum(requests: Flow<SumRequest>): Flow<SumReply> = super.echoSum(requests)
}
