// benchmark.BenchmarkService on Kestrel: h2c on port 8080, TLS on port 8443.

using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using AspNetGrpc;
using Microsoft.AspNetCore.Server.Kestrel.Core;

var certificatePath = Setting("TLS_CERT", "/certs/server.crt");
var keyPath = Setting("TLS_KEY", "/certs/server.key");

X509Certificate2 certificate;
try
{
    certificate = X509Certificate2.CreateFromPemFile(certificatePath, keyPath);
}
catch (Exception error) when (error is IOException or UnauthorizedAccessException
    or CryptographicException or ArgumentException)
{
    return Fail(
        $"cannot load the certificate {certificatePath} with the key {keyPath}: {error.Message}");
}

var builder = WebApplication.CreateBuilder(args);

builder.Logging.SetMinimumLevel(LogLevel.Warning);
// A start that fails is told in one line, below, and not by the host as well.
builder.Logging.AddFilter("Microsoft.Extensions.Hosting", LogLevel.None);

builder.Services.AddGrpc();
// After a SIGTERM, calls still open get this long to finish.
builder.Services.Configure<HostOptions>(
    options => options.ShutdownTimeout = TimeSpan.FromSeconds(1));

// Without TLS there is no ALPN to agree on a protocol: the port must be HTTP/2 only.
builder.WebHost.ConfigureKestrel(options =>
{
    options.ListenAnyIP(8080, listen => listen.Protocols = HttpProtocols.Http2);
    options.ListenAnyIP(8443, listen =>
    {
        listen.Protocols = HttpProtocols.Http2;
        listen.UseHttps(certificate);
    });
});

var app = builder.Build();
app.MapGrpcService<SumService>();

try
{
    await app.RunAsync();
    return 0;
}
catch (OperationCanceledException)
{
    // The host's way to say that the shutdown timeout broke off some calls.
    return 0;
}
catch (IOException error)
{
    // Kestrel could not bind; its message names the address and the cause.
    return Fail(error.Message);
}

static string Setting(string name, string fallback)
{
    var value = Environment.GetEnvironmentVariable(name);
    return string.IsNullOrEmpty(value) ? fallback : value;
}

static int Fail(string reason)
{
    Console.Error.WriteLine($"aspnet-grpc: {reason}");
    return 1;
}
