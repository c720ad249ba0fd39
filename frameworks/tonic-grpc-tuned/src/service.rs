use std::pin::Pin;
use std::task::{Context, Poll};

use tokio_stream::Stream;
use tonic::{Request, Response, Status, Streaming};

use benchmark::benchmark_service_server::BenchmarkService;
pub use benchmark::benchmark_service_server::BenchmarkServiceServer;
use benchmark::{StreamRequest, SumReply, SumRequest};

mod benchmark {
    tonic::include_proto!("benchmark");
}

pub struct Sums;

#[tonic::async_trait]
impl BenchmarkService for Sums {
    type StreamSumStream = Ascending;
    type EchoSumStream = Echo;

    async fn get_sum(&self, request: Request<SumRequest>) -> Result<Response<SumReply>, Status> {
        Ok(Response::new(reply(sum(request.get_ref()))))
    }

    async fn stream_sum(
        &self,
        request: Request<StreamRequest>,
    ) -> Result<Response<Ascending>, Status> {
        let StreamRequest { a, b, count } = request.into_inner();
        Ok(Response::new(Ascending {
            next: a.wrapping_add(b),
            left: count.max(1),
        }))
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
    ) -> Result<Response<Echo>, Status> {
        Ok(Response::new(Echo(request.into_inner())))
    }
}

/// `left` replies, each one more than that before it. tonic pulls from it while the client's
/// window has room.
pub struct Ascending {
    next: i32,
    left: i32,
}

impl Stream for Ascending {
    type Item = Result<SumReply, Status>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let result = self.next;
        self.next = result.wrapping_add(1);
        self.left -= 1;
        Poll::Ready(Some(Ok(reply(result))))
    }
}

/// A reply for each request.
pub struct Echo(Streaming<SumRequest>);

impl Stream for Echo {
    type Item = Result<SumReply, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let received = Pin::new(&mut self.0).poll_next(context);
        received.map_ok(|request| reply(sum(&request)))
    }
}

/// Sums wrap around, as the .proto asks.
fn sum(request: &SumRequest) -> i32 {
    request.a.wrapping_add(request.b)
}

fn reply(result: i32) -> SumReply {
    SumReply { result }
}
