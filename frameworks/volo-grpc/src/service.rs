use tokio_stream::StreamExt;
use volo_grpc::{BoxStream, RecvStream, Request, Response, Status};

pub use volo_gen::benchmark::BenchmarkServiceServer;
use volo_gen::benchmark::{BenchmarkService, StreamRequest, SumReply, SumRequest};

mod volo_gen {
    include!(concat!(env!("OUT_DIR"), "/volo_gen.rs"));
    pub use volo_gen::benchmark;
}

pub struct Sums;

type Replies = BoxStream<'static, Result<SumReply, Status>>;

impl BenchmarkService for Sums {
    async fn get_sum(&self, request: Request<SumRequest>) -> Result<Response<SumReply>, Status> {
        Ok(Response::new(reply(sum(request.get_ref()))))
    }

    async fn stream_sum(
        &self,
        request: Request<StreamRequest>,
    ) -> Result<Response<Replies>, Status> {
        let StreamRequest { a, b, count } = request.into_inner();
        let first = a.wrapping_add(b);
        // Volo pulls from the stream while the client's window has room.
        let replies = (0..count.max(1)).map(move |i| Ok(reply(first.wrapping_add(i))));
        Ok(Response::new(Box::pin(tokio_stream::iter(replies))))
    }

    async fn collect_sum(
        &self,
        request: Request<RecvStream<SumRequest>>,
    ) -> Result<Response<SumReply>, Status> {
        let mut requests = request.into_inner();
        let mut total = 0_i32;
        while let Some(request) = requests.try_next().await? {
            total = total.wrapping_add(sum(&request));
        }
        Ok(Response::new(reply(total)))
    }

    async fn echo_sum(
        &self,
        request: Request<RecvStream<SumRequest>>,
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
