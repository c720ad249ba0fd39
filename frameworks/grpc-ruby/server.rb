# frozen_string_literal: true

# benchmark.BenchmarkService on gRPC for Ruby: h2c on port 8080, TLS on port 8443.
#
# One process per CPU, because only one thread of a Ruby process runs Ruby at a time. Each has its
# own listening sockets; the kernel spreads the connections over them (SO_REUSEPORT, which gRPC
# sets by default).

require 'etc'
require 'openssl'
require 'socket'

H2C_PORT = Integer(ENV.fetch('PORT_H2C', '8080'))
TLS_PORT = Integer(ENV.fetch('PORT_TLS', '8443'))

# Each call needs a thread, and a call without one is refused (RESOURCE_EXHAUSTED). 1,000 calls on
# one connection all meet in one process. A thread is still busy for a moment when its client has
# the reply and starts the next call. So it is half as many again.
POOL_SIZE = 1536

# Calls still open this long after a stop signal are broken off.
STOP_GRACE_S = 1

def load_certificate
  chain_file = ENV.fetch('TLS_CERT', '/certs/server.crt')
  key_file = ENV.fetch('TLS_KEY', '/certs/server.key')
  chain = File.read(chain_file)
  key = File.read(key_file)
  pair = OpenSSL::X509::Certificate.new(chain).check_private_key(OpenSSL::PKey.read(key))
  raise 'they do not belong together' unless pair

  { cert_chain: chain, private_key: key }
rescue StandardError => e
  fail_with("cannot load the certificate #{chain_file} with the key #{key_file}: #{e.message}")
end

# The workers cannot find that out: SO_REUSEPORT would let them share the port with a server that
# set it too, and half of the connections would never arrive here.
def check_port_is_free(port)
  every_address = Socket.ip_address_list.any?(&:ipv6?) ? '::' : '0.0.0.0'
  TCPServer.new(every_address, port).close
rescue SystemCallError => e
  fail_with("cannot listen on port #{port}: #{e.message}")
end

def work(certificate, stop_signals)
  # gRPC must not be in use before a fork.
  require_relative 'service'

  credentials = GRPC::Core::ServerCredentials.new(nil, [certificate], false)
  server = GRPC::RpcServer.new(pool_size: POOL_SIZE)
  server.add_http2_port("[::]:#{H2C_PORT}", :this_port_is_insecure)
  server.add_http2_port("[::]:#{TLS_PORT}", credentials)
  server.handle(Service)

  serving = Thread.new { server.run_till_terminated }
  Thread.pass until server.wait_till_running # which a signal interrupts
  stop_signals.pop
  Thread.new { server.stop }
  serving.join(STOP_GRACE_S)
  # The end of the process would wait for threads whose clients do not read.
  exit!(true)
end

def stop(pid)
  Process.kill('TERM', pid)
rescue Errno::ESRCH
  # It has ended already.
end

def fail_with(reason)
  warn("grpc-ruby: #{reason}")
  exit(1)
end

events = Queue.new
%w[TERM INT].each { |signal| trap(signal) { events << :stop } }

certificate = load_certificate
check_port_is_free(H2C_PORT)
check_port_is_free(TLS_PORT)

# Traps outlive a fork: each worker has a queue of its own signals.
workers = Array.new(Etc.nprocessors) { fork { work(certificate, events) } }
watchers = workers.map do |pid|
  Thread.new { Process.wait2(pid).last.tap { events << :worker_ended } }
end

events.pop
workers.each { |pid| stop(pid) }
failed = watchers.map(&:value).reject(&:success?)
fail_with("a worker ended unasked: #{failed.join(', ')}") if failed.any?
