// A method may return less than the trait allows, which is any form of the reply.
#![allow(refining_impl_trait)]

use connectrpc::{
    InboundStream, RequestContext, Response, ServiceRequest, ServiceResult, ServiceStream,
};
use futures::{StreamExt, stream};

use proto::benchmark::{BenchmarkService, StreamRequest, SumReply, SumRequest};

mod proto {
    connectrpc::include_generated!();
}

pub struct Sums;

impl BenchmarkService for Sums {
    async fn get_sum(
        &self,
        _context: RequestContext,
        request: ServiceRequest<'_, SumRequest>,
    ) -> ServiceResult<SumReply> {
        Response::ok(reply(request.a.wrapping_add(request.b)))
    }

    async fn stream_sum(
        &self,
        _context: RequestContext,
        request: ServiceRequest<'_, StreamRequest>,
    ) -> ServiceResult<ServiceStream<SumReply>> {
        let first = request.a.wrapping_add(request.b);
        // Connect pulls from the stream while the client's window has room.
        let replies = (0..request.count.max(1)).map(move |i| Ok(reply(first.wrapping_add(i))));
        Response::stream_ok(stream::iter(replies))
    }

    async fn collect_sum(
        &self,
        _context: RequestContext,
        mut requests: InboundStream<SumRequest>,
    ) -> ServiceResult<SumReply> {
        let mut total = 0_i32;
        while let Some(request) = requests.next().await {
            let request = request?;
            total = total.wrapping_add(request.a()).wrapping_add(request.b());
        }
        Response::ok(reply(total))
    }

    async fn echo_sum(
        &self,
        _context: RequestContext,
        requests: InboundStream<SumRequest>,
    ) -> ServiceResult<ServiceStream<SumReply>> {
        let replies = requests
            .map(|request| request.map(|request| reply(request.a().wrapping_add(request.b()))));
        Response::stream_ok(replies)
    }
}

/// Sums wrap around, as the .proto asks.
fn reply(result: i32) -> SumReply {
    SumReply {
        result,
        ..Default::default()
    }
}
