using Benchmark;
using Grpc.Core;

namespace AspNetGrpc;

/// <summary>
/// The four calls, left to fill in: the base class answers that they are not implemented.
/// requests/benchmark.proto says what each returns. Sums wrap around, as unchecked int addition does.
/// </summary>
public sealed class SumService : BenchmarkService.BenchmarkServiceBase
{
    // TODO: one reply, a + b.
    public override Task<SumReply> GetSum(SumRequest request, ServerCallContext context)
    {
        return base.GetSum(request, context);
    }

    // TODO: count replies, but at least one; the i-th, from 0, is a + b + i. WriteAsync waits while
    // the client has no room; the context's CancellationToken says when it has hung up.
    public override Task StreamSum(
        StreamRequest request,
        IServerStreamWriter<SumReply> responseStream,
        ServerCallContext context)
    {
        return base.StreamSum(request, responseStream, context);
    }

    // TODO: one reply when the requests have ended: the sum of every a and b.
    public override Task<SumReply> CollectSum(
        IAsyncStreamReader<SumRequest> requestStream, ServerCallContext context)
    {
        return base.CollectSum(requestStream, context);
    }

    // TODO: answer each request with its a + b, before the next is read.
    public override Task EchoSum(
        IAsyncStreamReader<SumRequest> requestStream,
        IServerStreamWriter<SumReply> responseStream,
        ServerCallContext context)
    {
        return base.EchoSum(requestStream, responseStream, context);
    }
}
