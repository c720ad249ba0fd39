//! The four calls, left to fill in. requests/benchmark.proto says what each returns;
//! `i32::wrapping_add` wraps around, as it asks.

use std::pin::Pin;

use tokio_stream::Stream;
use tonic::{Request, Response, Status, Streaming};

use benchmark::benchmark_service_server::BenchmarkService;
pub use benchmark::benchmark_service_server::BenchmarkServiceServer;
use benchmark::{StreamRequest, SumReply, SumRequest};

mod benchmark {
    tonic::include_proto!("benchmark");
}

pub struct Sums;

type Replies = Pin<Box<dyn Stream<Item = Result<SumReply, Status>> + Send>>;

#[tonic::async_trait]
impl BenchmarkService for Sums {
    type StreamSumStream = Replies;
    type EchoSumStream = Replies;

    // TODO: one reply, a + b.
    async fn get_sum(&self, _request: Request<SumRequest>) -> Result<Response<SumReply>, Status> {
        Err(Status::unimplemented("GetSum is left to fill in"))
    }

    // TODO: count replies, but at least one; the i-th, from 0, is a + b + i. tonic pulls them from
    // the stream while the client's window has room.
    async fn stream_sum(
        &self,
        _request: Request<StreamRequest>,
    ) -> Result<Response<Replies>, Status> {
        Err(Status::unimplemented("StreamSum is left to fill in"))
    }

    // TODO: one reply when the requests have ended: the sum of every a and b.
    async fn collect_sum(
        &self,
        _request: Request<Streaming<SumRequest>>,
    ) -> Result<Response<SumReply>, Status> {
        Err(Status::unimplemented("CollectSum is left to fill in"))
    }

    // TODO: a stream of the a + b of each request.
    async fn echo_sum(
        &self,
        _request: Request<Streaming<SumRequest>>,
    ) -> Result<Response<Replies>, Status> {
        Err(Status::unimplemented("EchoSum is left to fill in"))
    }
}
