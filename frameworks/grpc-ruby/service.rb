# frozen_string_literal: true

require 'benchmark_services_pb'

# The four methods of benchmark.BenchmarkService. A lazy enumerator makes its next reply when gRPC
# asks for it: when the client's flow-control window has taken the last one.
class Service < Benchmark::BenchmarkService::Service
  def get_sum(request, _call)
    reply(request.a + request.b)
  end

  def stream_sum(request, _call)
    first = request.a + request.b
    [request.count, 1].max.times.lazy.map { |i| reply(first + i) }
  end

  def collect_sum(call)
    reply(call.each_remote_read.sum { |request| request.a + request.b })
  end

  def echo_sum(requests, _call)
    requests.lazy.map { |request| reply(request.a + request.b) }
  end

  private

  # Wraps around like int32 addition; protobuf refuses what does not fit.
  def reply(sum)
    Benchmark::SumReply.new(result: ((sum + 0x8000_0000) & 0xFFFF_FFFF) - 0x8000_0000)
  end
end
