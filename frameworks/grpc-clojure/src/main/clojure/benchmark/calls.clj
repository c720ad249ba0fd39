(ns benchmark.calls
  "Makes handlers of gRPC calls out of functions. gRPC makes one callback of a call at a time."
  (:import (io.grpc.stub ServerCallStreamObserver ServerCalls ServerCalls$BidiStreamingMethod
                         ServerCalls$ClientStreamingMethod ServerCalls$ServerStreamingMethod
                         ServerCalls$UnaryMethod StreamObserver)))

(set! *warn-on-reflection* true)

;; A stream is ready while fewer bytes of replies wait. Netty keeps each in a buffer of 4 KiB.
(def ^:private waiting-bytes 1024)

(defn unary
  "The reply is `(f request)`."
  [f]
  (ServerCalls/asyncUnaryCall
   (reify ServerCalls$UnaryMethod
     (invoke [_ request replies]
       (.onNext replies (f request))
       (.onCompleted replies)))))

(defn server-streaming
  "The replies are the sequence `(f request)`, which may be lazy: the client reads it at its own pace."
  [f]
  (ServerCalls/asyncServerStreamingCall
   (reify ServerCalls$ServerStreamingMethod
     (invoke [_ request observer]
       (let [^ServerCallStreamObserver replies observer
             left (volatile! (seq (f request)))]
         (.setOnReadyThreshold replies waiting-bytes)
         (.setOnReadyHandler
          replies
          ;; A call that has ended, or that the client has cancelled, is never ready again.
          #(while (.isReady replies)
             (.onNext replies (first @left))
             (when-not (vswap! left next)
               (.onCompleted replies)))))))))

(defn client-streaming
  "The reply is `(finish (reduce f init requests))`."
  [f init finish]
  (ServerCalls/asyncClientStreamingCall
   (reify ServerCalls$ClientStreamingMethod
     (invoke [_ replies]
       (let [result (volatile! init)]
         (reify StreamObserver
           (onNext [_ request] (vswap! result f request))
           (onError [_ _cancelled])
           (onCompleted [_]
             (.onNext replies (finish @result))
             (.onCompleted replies))))))))

(defn bidi-streaming
  "Each request is answered with `(f request)`; the next is asked for when the client has room."
  [f]
  (ServerCalls/asyncBidiStreamingCall
   (reify ServerCalls$BidiStreamingMethod
     (invoke [_ observer]
       (let [^ServerCallStreamObserver replies observer
             waiting (volatile! true)
             ;; A late event must not ask for a second request while one is on its way.
             resume #(when (and @waiting (.isReady replies))
                       (vreset! waiting false)
                       (.request replies 1))]
         (.disableAutoRequest replies)
         (.setOnReadyHandler replies resume)
         (reify StreamObserver
           (onNext [_ request]
             (.onNext replies (f request))
             (vreset! waiting true)
             (resume))
           (onError [_ _cancelled])
           (onCompleted [_] (.onCompleted replies))))))))
