"""The command lines and config files that ghz 0.121 documents, by where they stand.

A page is one of ghz's www/docs; `testdata` and the README are ghz's own. Only the address, the
folders of files, and the length of a run are others here: what loads for a minute there does so for
a second.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One command line.

    `differs` says in which way volley's run is another one, and why. `broken` says why ghz itself
    does not run it; volley does. `refused`: ghz refuses it, and volley has to.
    """

    page: str
    words: str
    tls: bool = False
    stdin: str | None = None
    differs: str | None = None
    broken: str | None = None
    refused: bool = False
    # Without a number of calls; or with `max-duration`, which makes ghz go on until it is over.
    counted: bool = True


HELLO = "--proto ./greeter.proto --call helloworld.Greeter.SayHello"
JOE = """-d '{"name":"Joe"}'"""
PACED = (
    "--insecure --async --proto protos/helloworld.proto --call helloworld.Greeter/SayHello "
    """-d '{"name":"{{.WorkerID}}"}'"""
)
NAMES = """-d '[{"name":"Joe"},{"name":"Kate"},{"name":"Sara"}]'"""
CS = "--insecure --proto ./greeter.proto --call helloworld.Greeter.SayHelloCS"
TRACED = """-m '{"trace_id":"{{.RequestNumber}}", "timestamp":"{{.TimestampUnixNano}}"}'"""
NAMED = (
    f"""--insecure {HELLO} --name 'Greeter SayHello' -d '{{"name":"Bob Smith"}}' """
    """--tags '{"env":"staging","created by":"Joe Developer"}'"""
)
POINTS = (
    '[{ "latitude": 407838351, "longitude": -746143763 }, '
    '{ "latitude": 419999544, "longitude": -740371136 }]'
)
RECTANGLE = (
    '{"lo":{"latitude":400000000,"longitude":-750000000},'
    '"hi":{"latitude":420000000,"longitude":-730000000}}'
)

LINES = [
    Line("examples", f"--insecure {HELLO} {JOE}"),
    Line("examples", f"--insecure --call helloworld.Greeter.SayHello {JOE}"),
    Line(
        "examples",
        f"""--insecure {HELLO} {JOE} -m '{{"trace_id":"{{{{.RequestNumber}}}}", """
        """"timestamp":"{{.TimestampUnix}}"}'""",
    ),
    Line("examples", f"{HELLO} -B ./hello_request_data.bin", tls=True),
    Line("examples", HELLO, tls=True, stdin="hello_request_data.bin"),
    Line("examples", f"{HELLO} --binary", tls=True, stdin="hello_request_data.bin"),
    Line(
        "examples",
        "--insecure --proto protos/bytes.proto --call bytes.ImageService.Save "
        """-d '{"name":"icon.ico", "data":"AAABAAEAEBAAAAEAIABoBAAA"}' -c 1 -n 1""",
    ),
    Line("examples", f"""--insecure {HELLO} -d '[{{"name":"Joe"}},{{"name":"Bob"}}]'"""),
    Line("examples", f"{HELLO} {JOE} -n 2000 -c 20", tls=True),
    Line("examples", f"{HELLO} {JOE} -n 2000 -c 20 --connections=10", tls=True),
    Line("examples", f"{CS.removeprefix('--insecure ')} {NAMES}", tls=True),
    Line(
        "examples",
        """--protoset ./bundle.protoset --call helloworld.Greeter.SayHello -d '{"name":"Bob"}' """
        "-n 1000 -c 10",
        tls=True,
    ),
    Line("examples", "--config ./config.json", counted=False),
    Line("examples", "--config ./config.json -c 20 -n 1000", counted=False),
    Line(
        "examples",
        f"--insecure --proto ./protos/greeter.proto --call helloworld.Greeter.SayHello {JOE} "
        """-c 5 -n 50 -m '{"request-id":"{{.RequestNumber}}", "timestamp":"{{.TimestampUnix}}"}' """
        "--debug ./logs/debug.json",
    ),
    Line(
        "examples",
        "--insecure --proto ./protos/route_guide.proto --call routeguide.RouteGuide.RecordRoute "
        f"-d '{POINTS}' {TRACED}",
    ),
    Line(
        "examples",
        "--insecure --proto ./protos/route_guide.proto --call routeguide.RouteGuide.ListFeatures "
        f"-d '{RECTANGLE}' {TRACED}",
    ),
    Line(
        "examples",
        "--insecure --proto ./testdata/wrapped.proto --call wrapped.WrappedService.GetMessage "
        """-d '"asdf"'""",
    ),
    Line(
        "concurrency",
        f"{PACED} -n 60 --rps 200 --concurrency-schedule=step --concurrency-start=5 "
        "--concurrency-step=5 --concurrency-end=50 --concurrency-step-duration=50ms",
    ),
    Line(
        "concurrency",
        f"{PACED} -n 60 --rps 200 --concurrency-schedule=step --concurrency-start=50 "
        "--concurrency-step=-5 --concurrency-step-duration=50ms --concurrency-max-duration=300ms",
    ),
    Line(
        "concurrency",
        f"{PACED} -n 60 --rps 200 --concurrency-schedule=line --concurrency-start=20 "
        "--concurrency-step=2 --concurrency-max-duration=3s",
    ),
    Line("load", f"{PACED} -c 10 -n 60 --rps 200"),
    Line(
        "load",
        f"{PACED} -c 10 -n 60 --load-schedule=step --load-start=50 --load-end=150 --load-step=10 "
        "--load-step-duration=100ms",
    ),
    Line(
        "load",
        f"{PACED} -c 10 -n 60 --load-schedule=step --load-start=200 --load-step=-10 "
        "--load-step-duration=100ms --load-max-duration=800ms",
    ),
    Line("load", f"{PACED} -c 10 -n 30 --load-schedule=line --load-start=5 --load-step=5"),
    Line(
        "load",
        f"{PACED} -c 10 -n 60 --load-schedule=line --load-start=200 --load-step=-2 --load-end=100",
    ),
    Line("options", "--config=./config.json -c 20 -n 1000", counted=False),
    Line(
        "options",
        f"{PACED} -n 60 -c 10 --load-schedule=step --load-start=50 --load-step=10 "
        "--load-step-duration=100ms",
    ),
    Line(
        "options",
        f"{PACED} -n 60 -c 10 --load-schedule=step --load-start=50 --load-step=10 "
        "--load-step-duration=100ms --load-max-duration=1s",
    ),
    Line(
        "options",
        f"{PACED} -n 60 -c 10 --load-schedule=line --load-start=200 --load-step=-2 --load-end=50",
    ),
    Line(
        "options",
        f"{PACED} -n 60 --rps 200 --concurrency-schedule=step --concurrency-start=10 "
        "--concurrency-step=10 --concurrency-step-duration=50ms --concurrency-max-duration=300ms",
    ),
    Line(
        "options",
        f"{PACED} -n 60 -rps 200 --concurrency-schedule=step --concurrency-start=10 "
        "--concurrency-step=10 --concurrency-step-duration=50ms --concurrency-max-duration=300ms",
        refused=True,
    ),
    Line(
        "options",
        f"{PACED} -n 60 --rps 200 --concurrency-schedule=line --concurrency-start=200 "
        "--concurrency-step=-2 --concurrency-end=20",
    ),
    Line("options", f"--insecure {HELLO} {NAMES}"),
    Line("options", f"{CS} {NAMES}"),
    Line("options", f"{CS} --stream-call-count=2 {NAMES}"),
    Line("options", f"{CS} --stream-call-count=5 {NAMES}"),
    Line(
        "options",
        f"""{CS} --stream-call-count=5 -d '{{"name":"{{{{randomString 8 }}}}"}}'""",
    ),
    Line(
        "options",
        f"{CS} --stream-dynamic-messages=true --stream-call-count=5 "
        """-d '{"name":"{{randomString 8 }}"}'""",
        broken="its switches take no value",
    ),
    Line(
        "options",
        f"{CS} --stream-dynamic-messages --stream-call-count=5 "
        """-d '{"name":"{{randomString 8 }}"}'""",
    ),
    Line("options", f'--insecure {HELLO} {JOE} --lb-strategy "round_robin"'),
    Line("options", f"--insecure {HELLO} {JOE} --max-recv-message-size '42 MB'"),
    Line("options", f"--insecure {HELLO} {JOE} --max-send-message-size '42 MB'"),
    Line("options", f"--insecure {HELLO} {JOE} --disable-template-functions"),
    Line("options", f"--insecure {HELLO} {JOE} --disable-template-data"),
    Line(
        "options",
        f"--insecure {HELLO} {JOE} --disable-template-functions=true",
        broken="its switches take no value",
    ),
    Line(
        "options",
        f"--insecure {HELLO} {JOE} --disable-template-data=true",
        broken="its switches take no value",
    ),
    Line(
        "options",
        f"--insecure {HELLO} -d @",
        stdin="data.json",
        broken="its command line takes `@` for a file of flags",
    ),
    Line("options", f"--insecure {HELLO} {JOE} --cpus=2 -e --count-errors --skipFirst=5"),
    Line("options", f"--insecure {HELLO} {JOE} -z 300ms --duration-stop=wait", counted=False),
    Line(
        "options",
        f"--insecure {HELLO} {JOE} -D ./data.json",
        differs="ghz lets one of two payloads win; volley refuses to guess",
    ),
    Line(
        "calldata",
        f"""--insecure {HELLO} {JOE} """
        """-m '{"request-id":"{{.RequestNumber}}", "timestamp":"{{.TimestampUnix}}"}'""",
    ),
    Line(
        "calldata",
        "--insecure --proto protos/order.proto --call shop.Orders.Place "
        """-d '{"order_id":"{{newUUID}}", "item_id":"{{newUUID}}", """
        """"sku":"{{randomString 8 }}", "product_name":"{{randomString 0}}"}'""",
    ),
    *[
        Line("output", f"{NAMED} -O {form}")
        for form in (
            "summary", "csv", "json", "pretty", "html", "prometheus", "influx-summary",
            "influx-details",
        )
    ],
    *[
        Line("example_config", f"--config ./{name}", counted=False)
        for name in ("example.json", "example.toml")
    ],
    *[
        Line("testdata", f"--config ./{name}", counted=False)
        for name in (
            "config2.json", "config3.json", "config2.toml", "config3.toml",
            "bin5.json", "bin5.toml", "bin5.yaml",
        )
    ],
    Line("testdata", "--config ./config4.toml", broken="it reads no list of TOML tables as data"),
    Line("testdata", "--config ./config5.toml"),
    *[
        Line("testdata", f"--config ./{name}", refused=True)
        for name in (
            "bin0.json", "bin0.toml", "bin0.yaml", "bin1.yaml", "bin2.toml", "bin3.json",
            "bin4.yaml", "bin6.json", "bin6.toml", "bin6.yaml",
        )
    ],
]  # fmt: skip

_HELLO_JSON = """
  "proto": "protos/greeter.proto",
  "call": "helloworld.Greeter.SayHello",
  "host": "0.0.0.0:50051",
  "insecure": true"""
_HELLO_TOML = """
proto = "protos/greeter.proto"
call = "helloworld.Greeter.SayHello"
host = "0.0.0.0:50051"
insecure = true"""
_BIN = {
    "insecure": "true",
    "import-paths": '["protos"]',
    "proto": '"grpcbin.proto"',
    "call": '"grpcbin.GRPCBin.DummyUnary"',
    "host": '"0.0.0.0:50051"',
    "data": '{"f_strings": ["123", "456"]}',
}
_SIZES = {
    "duration": '"200ms"',
    "max-duration": '"600ms"',
    "stream-interval": '"25s"',
    "timeout": '"30s"',
    "max-recv-message-size": '"1024mb"',
    "max-send-message-size": '"2000mib"',
}
_NO_SIZES = {**_SIZES, "max-recv-message-size": '"1024nb"', "max-send-message-size": '"2000nib"'}


def _bin(form: str, **others: str) -> str:
    """Return the config of a call of grpcbin, whose values are the same in all three forms."""
    entries = {**_BIN, **{key.replace("_", "-"): value for key, value in others.items()}}
    if form == "json":
        return "{" + ", ".join(f'"{key}": {value}' for key, value in entries.items()) + "}"
    if form == "yaml":
        return "\n".join(f"{key}: {value}" for key, value in entries.items())
    data = entries.pop("data")
    top = "\n".join(f"{key} = {value}" for key, value in entries.items())
    if not data.startswith("{"):
        return f"{top}\ndata = {data}\n"
    return f'{top}\n[data]\nf_strings = ["123", "456"]\n'


# Config files, by name.
FILES = {
    "data.json": '{"name": "Some Name {{.TimestampUnix}}"}',
    "config.json": f"""{{
  "total": 500, "concurrency": 50, "skipFirst": 5, "max-duration": "700ms",
  "stream-interval": "500ms", "data": {{"name": "Bob {{{{.TimestampUnix}}}}"}},
  "metadata": {{"rn": "{{{{.RequestNumber}}}}"}},{_HELLO_JSON}
}}""",
    "config2.json": f"""{{
  "name": "pretty-json-test", "max-duration": "600ms", "total": 500, "concurrency": 20,
  "binary-file": "hello_request_data.bin", "metadata": {{"rn": "{{{{.RequestNumber}}}}"}},
  "output": "pretty.json", "format": "pretty",{_HELLO_JSON}
}}""",
    "config3.json": f"""{{
  "max-duration": "500ms", "total": 60, "concurreny": 5, "data-file": "data.json",
  "format": "pretty", "metadata": {{"rn": "{{{{.RequestNumber}}}}"}},{_HELLO_JSON}
}}""",
    "config2.toml": f"""
name = "pretty-json-test"
"max-duration" = "600ms"
total = 500
concurrency = 20
"binary-file" = "hello_request_data.bin"
output = "pretty.json"
format = "pretty"{_HELLO_TOML}

[metadata]
rn = "{{{{.RequestNumber}}}}"
""",
    "config3.toml": f"""
"max-duration" = "500ms"
total = 40
concurrency = 5
"data-file" = "data.json"
format = "pretty"{_HELLO_TOML}

[metadata]
rn = "{{{{.RequestNumber}}}}"
""",
    "config4.toml": """
total = 500
concurrency = 1
"stream-interval" = "20ms"
"max-duration" = "700ms"
duration = "1200ms"
proto = "protos/greeter.proto"
call = "helloworld.Greeter.SayHelloBidi"
host = "0.0.0.0:50051"
insecure = true

[[data]]
name = "Bob 1 {{.TimestampUnix}}"
[[data]]
name = "Bob 2 {{.TimestampUnix}}"

[metadata]
rn = "{{.RequestNumber}}"
""",
    "config5.toml": f"""
total = 500
concurrency = 40
skipFirst = 100{_HELLO_TOML}

[data]
name = "Bob {{{{.TimestampUnix}}}}"

[metadata]
rn = "{{{{.RequestNumber}}}}"
""",
    "example.json": """{
    "proto": "protos/greeter.proto",
    "call": "helloworld.Greeter.SayHello",
    "total": 2000,
    "concurrency": 50,
    "data": {"name": "Joe"},
    "metadata": {"foo": "bar", "trace_id": "{{.RequestNumber}}", "timestamp": "{{.TimestampUnix}}"},
    "import-paths": ["protos"],
    "max-duration": "1s",
    "insecure": true,
    "host": "0.0.0.0:50051"
}""",
    "example.toml": f"""
"max-duration" = "700ms"
total = 500
concurrency = 50
output = "pretty.json"
format = "pretty"{_HELLO_TOML}

[data]
name = "Bob {{{{.TimestampUnix}}}}"

[metadata]
rn = "{{{{.RequestNumber}}}}"
""",
    "bin0.json": _bin("json", data='"foo"'),
    "bin0.toml": _bin("toml", data='"{ \\"f_strings\\": [1,] }"'),
    "bin0.yaml": _bin("yaml", data='"foo"'),
    "bin1.yaml": _bin("yaml", duration="asdf"),
    "bin2.toml": _bin("toml", max_duration='"asdf"'),
    "bin3.json": _bin("json", stream_interval='"foo"'),
    "bin4.yaml": _bin("yaml", timeout="foo"),
    **{f"bin5.{form}": _bin(form, **_SIZES) for form in ("json", "toml", "yaml")},
    **{f"bin6.{form}": _bin(form, **_NO_SIZES) for form in ("json", "toml", "yaml")},
}
