package benchmark

import benchmark.Benchmark.StreamRequest
import benchmark.Benchmark.SumReply
import benchmark.Benchmark.SumRequest
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.fold
import kotlinx.coroutines.flow.map

/** The four calls. A flow waits while its client has no room, and ends when the client cancels. */
class BenchmarkService : BenchmarkServiceGrpcKt.BenchmarkServiceCoroutineImplBase() {
    override suspend fun getSum(request: SumRequest): SumReply = reply(request.a + request.b)

    override fun streamSum(request: StreamRequest): Flow<SumReply> = flow {
        repeat(request.count.coerceAtLeast(1)) { emit(reply(request.a + request.b + it)) }
    }

    override suspend fun collectSum(requests: Flow<SumRequest>): SumReply =
        reply(requests.fold(0) { total, request -> total + request.a + request.b })

    override fun echoSum(requests: Flow<SumRequest>): Flow<SumReply> =
        requests.map { reply(it.a + it.b) }

    private fun reply(sum: Int): SumReply = sumReply { result = sum }
}
