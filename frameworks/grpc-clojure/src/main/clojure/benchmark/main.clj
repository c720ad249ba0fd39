(ns benchmark.main
  "Answers BenchmarkService: in clear text (h2c) on port 8080 and over TLS on port 8443."
  (:require [benchmark.service :as service]
            [clojure.java.io :as io])
  (:import (io.grpc Grpc InsecureServerCredentials Server ServerCredentials TlsServerCredentials)
           (java.io IOException)
           (java.util.concurrent Executor Executors TimeUnit)
           (java.util.logging Level Logger))
  (:gen-class))

(set! *warn-on-reflection* true)

;; Calls still open this long after SIGTERM are broken off.
(def ^:private stop-grace-ms 700)
(def ^:private break-off-ms 300)

;; Held here, since a logger that nobody refers to forgets its level.
(def ^:private ^Logger grpc-logger (Logger/getLogger "io.grpc"))

(defn- env ^String [variable fallback]
  (or (not-empty (System/getenv variable)) fallback))

(defn- port [variable fallback]
  (parse-long (env variable fallback)))

(defn- new-server [executor port ^ServerCredentials credentials]
  (-> (Grpc/newServerBuilderForPort (int port) credentials)
      (.executor ^Executor executor)
      (.addService (service/definition))
      .build))

(defn- new-tls-server [executor port]
  (let [chain (io/file (env "TLS_CERT" "/certs/server.crt"))
        key (io/file (env "TLS_KEY" "/certs/server.key"))]
    (try
      (new-server executor port (TlsServerCredentials/create chain key))
      (catch Exception error
        (throw (IOException. (str "cannot load the certificate " chain " with the key " key)
                             error))))))

(defn- await-termination [servers limit-ms]
  (let [deadline (+ (System/nanoTime) (* limit-ms 1000000))]
    (doseq [^Server server servers]
      (.awaitTermination server (- deadline (System/nanoTime)) TimeUnit/NANOSECONDS))))

(defn- stop [servers]
  (run! Server/.shutdown servers)
  (await-termination servers stop-grace-ms)
  (run! Server/.shutdownNow servers)
  (await-termination servers break-off-ms)
  ;; Otherwise the JVM would end with the signal's exit code, 143.
  (.halt (Runtime/getRuntime) 0))

(defn -main []
  ;; Below SEVERE, gRPC reports each stream that a client cuts off.
  (.setLevel grpc-logger Level/SEVERE)
  (try
    ;; One thread for each CPU: gRPC's default pool has no bound.
    (let [executor (Executors/newWorkStealingPool)
          ;; Credentials belong to a Server, so each port has its own.
          h2c (new-server executor (port "PORT_H2C" "8080") (InsecureServerCredentials/create))
          servers [h2c (new-tls-server executor (port "PORT_TLS" "8443"))]]
      (.addShutdownHook (Runtime/getRuntime) (Thread. #(stop servers)))
      (run! Server/.start servers)
      (Server/.awaitTermination h2c))
    (catch IOException error
      (binding [*out* *err*]
        (println (str "grpc-clojure: " (ex-message error) ": " (ex-message (ex-cause error)))))
      ;; No exit: that would run the hook, which ends the process without an error.
      (.halt (Runtime/getRuntime) 1))))
