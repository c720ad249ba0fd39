use std::pin::Pin;

use tokio_stream::{Stream, StreamExt};
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

    async fn get_sum(&self, request: Request<SumRequest>) -> Result<Response<SumReply>, Status> {
        Ok(Response::new(reply(sum(request.get_ref()))))
    }

    async fn stream_sum(
        &self,
        request: Request<StreamRequest>,
    ) -> Result<Response<Replies>, Status> {
        let StreamRequest { a, b, count } = request.into_inner();
        let first = a.wrapping_add(b);
        // tonic pulls from the stream while the client's window has room.
        let replies = (0..count.max(1)).map(move |i| Ok(reply(first.wrapping_add(i))));
        Ok(Response::new(Box::pin(tokio_stream::iter(replies))))
    }

    async fn collect_sum(
        &self,
        request: Request<Streaming<SumRequest>>,
    ) -> Result<Response<SumReply>, Status> {
        let mut requests = request.into_inner();
        let mut total = 0_i32;
        while let Some(request) = requests.message().await? {
            total = total.wrapping_add(sum(&request));
        }
        Ok(Response::new(reply(total)))
    }

    async fn echo_sum(
        &self,
        request: Request<Streaming<SumRequest>>,
    ) -> Result<Response<Replies>, Status> {
        let replies = request
            .into_inner()
            .map(|request| request.map(|request| reply(sum(&request))));
        Ok(Response::new(Box::pin(replies)))
    }
}

/// Sums wrap around, as the .proto asks.
fn sum(request: &SumRequest) -> i32 {
    request.a.wrapping_add(request.b)
}

fn reply(result: i32) -> SumReply {
    SumReply { result }
}
