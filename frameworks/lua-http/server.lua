-- benchmark.BenchmarkService on lua-http: h2c on port 8080, TLS on port 8443. A process for each CPU.

local cqueues = require "cqueues"
local errno = require "cqueues.errno"
local http_server = require "http.server"
local http_tls = require "http.tls"
local openssl_context = require "openssl.ssl.context"
local openssl_pkey = require "openssl.pkey"
local openssl_x509 = require "openssl.x509"
local posix_signal = require "posix.signal"
local posix_unistd = require "posix.unistd"
local posix_wait = require "posix.sys.wait"
local signal = require "cqueues.signal"
local socket = require "cqueues.socket"

local grpc = require "grpc"
local service = require "service"

local function fail(...)
	io.stderr:write("lua-http: ", string.format(...), "\n")
	os.exit(1)
end

local function env(name, fallback)
	local value = os.getenv(name)
	return value and value ~= "" and value or fallback
end

-- Returns what `parse` makes of a PEM file.
local function from_pem(path, parse)
	local file, why = io.open(path)
	if not file then
		fail("cannot read %s", why)
	end
	local ok, parsed = pcall(parse, file:read("*a"), "PEM")
	file:close()
	if not ok then
		fail("%s has no certificate or key that can be used", path)
	end
	return parsed
end

-- TLS 1.2 and 1.3, for HTTP/2 alone.
local function tls_context()
	local context = http_tls.new_server_context()
	context:setOptions(openssl_context.OP_NO_TLSv1 + openssl_context.OP_NO_TLSv1_1)
	context:setCertificate(from_pem(env("TLS_CERT", "/certs/server.crt"), openssl_x509.new))
	context:setPrivateKey(from_pem(env("TLS_KEY", "/certs/server.key"), openssl_pkey.new))
	context:setAlpnSelect(function(_, offered)
		for _, protocol in ipairs(offered) do
			if protocol == "h2" then
				return protocol
			end
		end
		return nil
	end)
	return context
end

-- Listens on all addresses, IPv6 and IPv4.
local function listen(port)
	local listener = socket.listen({ host = "::", port = port, v6only = false, reuseaddr = true })
	listener:onerror(function(_, _, why)
		return why
	end)
	local ok, why = listener:listen()
	if not ok then
		fail("cannot listen on port %s: %s", port, errno.strerror(why))
	end
	return listener
end

local function usable_cpus()
	local nproc = io.popen("nproc")
	local count = tonumber(nproc:read("*l"))
	nproc:close()
	return count or 1
end

-- Serves for ever.
local function serve(h2c, tls, context)
	local controller = cqueues.new()
	local onstream = grpc.serve(service)
	local function ignore() end -- clients that break off
	for _, port in ipairs({ { socket = h2c, tls = false }, { socket = tls, tls = true, ctx = context } }) do
		http_server.new({
			cq = controller,
			socket = port.socket,
			tls = port.tls,
			ctx = port.ctx,
			version = 2,
			-- Otherwise a connection takes no new calls when none has come for 10 s.
			intra_stream_timeout = math.huge,
			onstream = onstream,
			onerror = ignore,
		})
	end
	repeat
		local over = controller:loop()
	until over
end

local context = tls_context()
local h2c = listen(env("PORT_H2C", "8080"))
local tls = listen(env("PORT_TLS", "8443"))
local cpus = usable_cpus()
-- From here on a SIGCHLD is a worker's.
signal.block(signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)

local workers = {}
for i = 1, cpus do
	local pid, why = posix_unistd.fork()
	if not pid then
		fail("cannot fork: %s", why)
	elseif pid == 0 then
		signal.unblock(signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)
		serve(h2c, tls, context)
		os.exit(1)
	end
	workers[i] = pid
end

local came = signal.listen(signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):wait()
for _, pid in ipairs(workers) do
	posix_signal.kill(pid, posix_signal.SIGTERM)
end
for _ in ipairs(workers) do
	posix_wait.wait()
end
if came == signal.SIGCHLD then
	fail("a worker has ended")
end
os.exit(0)
