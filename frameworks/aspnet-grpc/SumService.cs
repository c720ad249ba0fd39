using Benchmark;
using Grpc.Core;

namespace AspNetGrpc;

/// <summary>The benchmark's four calls. Sums wrap around, as int addition does.</summary>
public sealed class SumService : BenchmarkService.BenchmarkServiceBase
{
    public override Task<SumReply> GetSum(SumRequest request, ServerCallContext context)
    {
        return Task.FromResult(Sum(request));
    }

    public override async Task StreamSum(
        StreamRequest request,
        IServerStreamWriter<SumReply> responseStream,
        ServerCallContext context)
    {
        var first = unchecked(request.A + request.B);
        var count = Math.Max(request.Count, 1);
        for (var i = 0; i < count; i++)
        {
            // A client that hung up is no error of this service: a write would
            // throw, and be logged, as one.
            context.CancellationToken.ThrowIfCancellationRequested();
            await responseStream.WriteAsync(new SumReply { Result = unchecked(first + i) });
        }
    }

    public override async Task<SumReply> CollectSum(
        IAsyncStreamReader<SumRequest> requestStream, ServerCallContext context)
    {
        var total = 0;
        await foreach (var request in requestStream.ReadAllAsync())
        {
            total = unchecked(total + request.A + request.B);
        }

        return new SumReply { Result = total };
    }

    public override async Task EchoSum(
        IAsyncStreamReader<SumRequest> requestStream,
        IServerStreamWriter<SumReply> responseStream,
        ServerCallContext context)
    {
        await foreach (var request in requestStream.ReadAllAsync())
        {
            context.CancellationToken.ThrowIfCancellationRequested();
            await responseStream.WriteAsync(Sum(request));
        }
    }

    private static SumReply Sum(SumRequest request)
    {
        return new SumReply { Result = unchecked(request.A + request.B) };
    }
}
