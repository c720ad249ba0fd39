// The four methods of benchmark.BenchmarkService. `| 0` wraps a sum around like int32 addition.

function getSum({ request: { a, b } }, callback) {
  callback(null, { result: (a + b) | 0 });
}

function streamSum(call) {
  const { a, b, count } = call.request;
  const replies = Math.max(count, 1);
  let i = 0;

  // A cancelled call is destroyed: write() returns false then, and 'drain' never comes.
  function writeUntilFull() {
    while (i < replies) {
      const reply = { result: (a + b + i) | 0 };
      i++;
      if (!call.write(reply)) {
        call.once("drain", writeUntilFull);
        return;
      }
    }
    call.end();
  }
  writeUntilFull();
}

function collectSum(call, callback) {
  let total = 0;
  call.on("data", ({ a, b }) => {
    total = (total + a + b) | 0;
  });
  call.on("end", () => callback(null, { result: total }));
}

function echoSum(call) {
  call.on("data", ({ a, b }) => {
    if (!call.write({ result: (a + b) | 0 })) {
      call.pause();
      call.once("drain", () => call.resume());
    }
  });
  call.on("end", () => call.end());
}

export const benchmarkService = {
  GetSum: getSum,
  StreamSum: streamSum,
  CollectSum: collectSum,
  EchoSum: echoSum,
};
