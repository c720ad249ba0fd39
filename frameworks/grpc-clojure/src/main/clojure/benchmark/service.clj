(ns benchmark.service
  "BenchmarkService: the four calls, each a function of its messages."
  (:require [benchmark.calls :as calls])
  (:import (benchmark Benchmark$StreamRequest Benchmark$SumReply Benchmark$SumRequest
                      BenchmarkServiceGrpc)
           (io.grpc ServerServiceDefinition)))

(set! *warn-on-reflection* true)

(defn- reply [sum]
  ;; Sums wrap around like int32 addition does.
  (-> (Benchmark$SumReply/newBuilder)
      (.setResult (unchecked-int sum))
      .build))

(defn- sum-of [^Benchmark$SumRequest request]
  (+ (.getA request) (.getB request)))

(defn- stream-sum [^Benchmark$StreamRequest request]
  (let [start (+ (.getA request) (.getB request))]
    (map reply (range start (+ start (max 1 (.getCount request)))))))

(defn definition ^io.grpc.ServerServiceDefinition []
  (-> (ServerServiceDefinition/builder (BenchmarkServiceGrpc/getServiceDescriptor))
      (.addMethod (BenchmarkServiceGrpc/getGetSumMethod)
                  (calls/unary (comp reply sum-of)))
      (.addMethod (BenchmarkServiceGrpc/getStreamSumMethod)
                  (calls/server-streaming stream-sum))
      (.addMethod (BenchmarkServiceGrpc/getCollectSumMethod)
                  (calls/client-streaming (fn [total request] (+ total (sum-of request))) 0 reply))
      (.addMethod (BenchmarkServiceGrpc/getEchoSumMethod)
                  (calls/bidi-streaming (comp reply sum-of)))
      .build))
