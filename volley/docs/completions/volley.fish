# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_volley_global_optspecs
    string join \n proto= protoset= i/import-paths= reflect-metadata= call= config= d/data= D/data-file= b/binary B/binary-file= m/metadata= M/metadata-file= stream-interval= stream-rate= stream-call-duration= stream-call-count= stream-dynamic-messages disable-template-functions disable-template-data n/total= z/duration= x/max-duration= duration-stop= c/concurrency= connections= r/rps= async t/timeout= cpus= threads= share= start-at= coalesce-sends= spin warmup= open-on-stdin warmup-at-most= drain-timeout= load-schedule= load-start= load-step= load-end= load-step-duration= load-max-duration= concurrency-schedule= concurrency-start= concurrency-step= concurrency-end= concurrency-step-duration= concurrency-max-duration= insecure skipTLS cacert= cert= key= cname= authority= lb-strategy= resolve-every= reconnect-every= connect-timeout= keepalive= e/enable-compression max-recv-message-size= max-memory= max-send-message-size= window= expect= expect-replies= fail-if= o/output= O/format= name= tags= skipFirst= count-errors details= show-secrets quiet debug= live-json= metrics= control= print-replies= save-replies= control-token= h/help v/version
end

function __fish_volley_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_volley_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_volley_using_subcommand
    set -l cmd (__fish_volley_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c volley -n "__fish_volley_needs_command" -l proto -d 'The .proto file that describes the service (default: ask the server, by reflection)' -r -F
complete -c volley -n "__fish_volley_needs_command" -l protoset -d 'A compiled descriptor set, as protoc --include_imports -o writes it; ignored if --proto is given' -r -F
complete -c volley -n "__fish_volley_needs_command" -s i -l import-paths -d 'Folders to search for imports, separated by commas; the folder of --proto and the current folder are always searched' -r -F
complete -c volley -n "__fish_volley_needs_command" -l reflect-metadata -d 'Metadata of the calls that ask the server for its schema, as a JSON object of strings' -r
complete -c volley -n "__fish_volley_needs_command" -l call -d 'The method: package.Service/Method or package.Service.Method' -r
complete -c volley -n "__fish_volley_needs_command" -l config -d 'Read the run from a .json, .toml or .yaml file: flags by their long names, or the sections of `volley schema`; the command line takes precedence' -r -F
complete -c volley -n "__fish_volley_needs_command" -s d -l data -d 'Request as JSON, or a list of requests: a client that streams sends them all in each call, otherwise calls take them in turn; @ reads stdin' -r
complete -c volley -n "__fish_volley_needs_command" -s D -l data-file -d 'Read --data from a file; users.csv (the header names fields) and users.jsonl (an object on each line) are lists' -r -F
complete -c volley -n "__fish_volley_needs_command" -s B -l binary-file -d 'Read the request from a file, in the format of --binary' -r -F
complete -c volley -n "__fish_volley_needs_command" -s m -l metadata -d 'Metadata of each call, as a JSON object of strings' -r
complete -c volley -n "__fish_volley_needs_command" -s M -l metadata-file -d 'Read --metadata from a file' -r -F
complete -c volley -n "__fish_volley_needs_command" -l stream-interval -d 'Pause between the messages that a call sends' -r
complete -c volley -n "__fish_volley_needs_command" -l stream-rate -d '+ Messages a second that each stream sends, until the window\'s end; -c streams take turns, and each message is due at its own time, from which its reply is timed. For a client and a server that both stream' -r
complete -c volley -n "__fish_volley_needs_command" -l stream-call-duration -d 'End each streaming call after this time' -r
complete -c volley -n "__fish_volley_needs_command" -l stream-call-count -d 'End each streaming call after N messages: sent (data repeats as needed) or received' -r
complete -c volley -n "__fish_volley_needs_command" -s n -l total -d 'Calls to make (default 200)' -r
complete -c volley -n "__fish_volley_needs_command" -s z -l duration -d 'Make calls for this long; -n is then ignored' -r
complete -c volley -n "__fish_volley_needs_command" -s x -l max-duration -d 'End the run after this time at the latest' -r
complete -c volley -n "__fish_volley_needs_command" -l duration-stop -d 'What happens to calls that are still open at the end: close cuts them (default), wait lets them finish, ignore cuts them and counts only their ages' -r -f -a "close\t''
wait\t''
ignore\t''"
complete -c volley -n "__fish_volley_needs_command" -s c -l concurrency -d 'Workers; each has one call open at a time (default 50)' -r
complete -c volley -n "__fish_volley_needs_command" -l connections -d 'Connections, shared evenly by the workers; at most -c (default 1)' -r
complete -c volley -n "__fish_volley_needs_command" -s r -l rps -d 'Calls per second, all workers together; latency is then measured from when a call was due (default 0: no limit)' -r
complete -c volley -n "__fish_volley_needs_command" -s t -l timeout -d 'Time limit for each call; 0 means none (default 20s)' -r
complete -c volley -n "__fish_volley_needs_command" -l cpus -d 'Use at most N threads; 0 means the default of --threads' -r
complete -c volley -n "__fish_volley_needs_command" -l threads -d '+ Threads that send and receive, at most --connections (default: the CPUs that taskset allows, else half of the host\'s)' -r
complete -c volley -n "__fish_volley_needs_command" -l share -d '+ Make the K-th of N parts of the load: calls and connections are dealt out in turn, and the JSON report holds what `volley merge` needs' -r
complete -c volley -n "__fish_volley_needs_command" -l start-at -d '+ Start the load when CLOCK_MONOTONIC shows this many ns, or those that come as a line on stdin; a line `volley: ready` on stderr says that all connections stand' -r
complete -c volley -n "__fish_volley_needs_command" -l coalesce-sends -d '+ With --rps: wake at most once in this time, such as 10ms, to look for replies and to send what is due, which takes less CPU at high rates; calls are late by up to as much, and the report says so' -r
complete -c volley -n "__fish_volley_needs_command" -l warmup -d '+ Run the same load for this long first, without counting it' -r
complete -c volley -n "__fish_volley_needs_command" -l warmup-at-most -d '+ With --open-on-stdin: end the run if its warm-up gets longer than this (default 5m)' -r
complete -c volley -n "__fish_volley_needs_command" -l drain-timeout -d '+ With --duration-stop wait: time limit for open calls to finish (default: that of -t, else 20s)' -r
complete -c volley -n "__fish_volley_needs_command" -l load-schedule -d 'const (default, see --rps), step or line' -r -f -a "const\t''
step\t''
line\t''"
complete -c volley -n "__fish_volley_needs_command" -l load-start -d 'Calls/s at the start (default 0)' -r
complete -c volley -n "__fish_volley_needs_command" -l load-step -d 'Calls/s to add per step, or per second of a line' -r
complete -c volley -n "__fish_volley_needs_command" -l load-end -d 'Calls/s at which the change ends (default 0: no upper bound)' -r
complete -c volley -n "__fish_volley_needs_command" -l load-step-duration -d 'Length of each step (step only)' -r
complete -c volley -n "__fish_volley_needs_command" -l load-max-duration -d 'Stop the change after this time' -r
complete -c volley -n "__fish_volley_needs_command" -l concurrency-schedule -d 'const (default, see -c), step or line' -r -f -a "const\t''
step\t''
line\t''"
complete -c volley -n "__fish_volley_needs_command" -l concurrency-start -d 'Workers at the start (default 0)' -r
complete -c volley -n "__fish_volley_needs_command" -l concurrency-step -d 'Workers to add per step, or per second (default 1)' -r
complete -c volley -n "__fish_volley_needs_command" -l concurrency-end -d 'Workers at which the change ends (default 0: no upper bound)' -r
complete -c volley -n "__fish_volley_needs_command" -l concurrency-step-duration -d 'Length of each step (step only)' -r
complete -c volley -n "__fish_volley_needs_command" -l concurrency-max-duration -d 'Stop the change after this time' -r
complete -c volley -n "__fish_volley_needs_command" -l cacert -d 'Root certificates (PEM) to trust, instead of the system\'s' -r -F
complete -c volley -n "__fish_volley_needs_command" -l cert -d 'Client certificate chain (PEM); needs --key' -r -F
complete -c volley -n "__fish_volley_needs_command" -l key -d 'Private key (PEM) of --cert' -r -F
complete -c volley -n "__fish_volley_needs_command" -l cname -d 'Name that the server\'s certificate must have (default: --authority, else HOST)' -r
complete -c volley -n "__fish_volley_needs_command" -l authority -d 'The :authority header (default: --cname, else HOST)' -r
complete -c volley -n "__fish_volley_needs_command" -l lb-strategy -d 'How connections use several addresses: pick_first, all use the first that works; or round_robin, they are dealt out to all in turn (default pick_first)' -r
complete -c volley -n "__fish_volley_needs_command" -l resolve-every -d '+ Look the server\'s name up again this often (default 0: when a connection is lost)' -r
complete -c volley -n "__fish_volley_needs_command" -l reconnect-every -d '+ Close each connection after N calls, and open it again (default 0: never)' -r
complete -c volley -n "__fish_volley_needs_command" -l connect-timeout -d 'Time limit for connecting, TLS included (default 10s)' -r
complete -c volley -n "__fish_volley_needs_command" -l keepalive -d 'Send a PING after this long without a byte from the server (default 0: never)' -r
complete -c volley -n "__fish_volley_needs_command" -l max-recv-message-size -d 'Largest reply to accept, as a SIZE (default 2 GiB)' -r
complete -c volley -n "__fish_volley_needs_command" -l max-memory -d '+ Most memory for replies that have not come whole, or are inflated, of all calls together, as a SIZE; a larger --max-recv-message-size raises it (default 128MiB)' -r
complete -c volley -n "__fish_volley_needs_command" -l max-send-message-size -d 'Largest message to send, as a SIZE (default 2 GiB)' -r
complete -c volley -n "__fish_volley_needs_command" -l window -d '+ HTTP/2 flow-control window of each stream, as a SIZE (default 16MiB)' -r
complete -c volley -n "__fish_volley_needs_command" -l expect -d '+ Rule that every reply must satisfy, such as \'result = a + b + i\' (a and b: fields of the request; i: index of the reply); repeatable' -r
complete -c volley -n "__fish_volley_needs_command" -l expect-replies -d '+ Number of replies that each call must get' -r
complete -c volley -n "__fish_volley_needs_command" -l fail-if -d '+ Exit with status 99 if this is so: \'p99 > 20ms\', \'failed > 0.1%\', \'rate < 9000\'; repeatable. Figures: any percentile (p99.9), mean, min, max, also after first-message, gap, service or send-delay; rate and messages (both per second); ok, failed, wrong, cut, sent, missed, late. A condition that cannot be decided fails, too: a time that is only a lower bound ("≥": too many calls had no end), or a percentile of too few calls' -r
complete -c volley -n "__fish_volley_needs_command" -s o -l output -d 'Write the report to a file (default: stdout)' -r -F
complete -c volley -n "__fish_volley_needs_command" -s O -l format -d 'summary (default), csv, json, pretty (json for people), html, prometheus, influx-summary or influx-details' -r
complete -c volley -n "__fish_volley_needs_command" -l name -d 'Name of the run, for the report' -r
complete -c volley -n "__fish_volley_needs_command" -l tags -d 'Tags of the run, for the report, as a JSON object of strings' -r
complete -c volley -n "__fish_volley_needs_command" -l skipFirst -d 'Leave the first N finished calls out of the report' -r
complete -c volley -n "__fish_volley_needs_command" -l details -d '+ Calls to list one by one: the first N to end (default 0), or all, as ghz does: at most 1000000, the default of csv and influx-details; each takes 40 bytes of memory' -r
complete -c volley -n "__fish_volley_needs_command" -l debug -d 'Write a log to a file: lines of JSON for the start, each second, each change, the kept calls of --details, and the end; - is stdout' -r -F
complete -c volley -n "__fish_volley_needs_command" -l live-json -d '+ Write a line of JSON for each second; - is stdout' -r -F
complete -c volley -n "__fish_volley_needs_command" -l metrics -d '+ Serve Prometheus metrics at GET /metrics of an ADDRESS: 127.0.0.1:9090, :9090 (localhost) or unix:/path' -r
complete -c volley -n "__fish_volley_needs_command" -l control -d '+ The same, and take orders: PATCH /v1/load {"rps": N} or {"concurrency": N}, POST /v1/pause, /v1/resume and /v1/stop, GET /v1/stats' -r
complete -c volley -n "__fish_volley_needs_command" -l print-replies -d '+ Print the first N replies to stderr, a line of JSON each' -r
complete -c volley -n "__fish_volley_needs_command" -l save-replies -d '+ Save all replies and statuses, a line of JSON each; the load waits for the file if it must; - is stdout' -r -F
complete -c volley -n "__fish_volley_needs_command" -l control-token -d '+ Clients must send this token (Authorization: Bearer TOKEN); needed where other hosts can reach an ADDRESS (default: $VOLLEY_TOKEN)' -r
complete -c volley -n "__fish_volley_needs_command" -s b -l binary -d 'Read the request from stdin as protobuf: one message, or several, each preceded by its length (varint)'
complete -c volley -n "__fish_volley_needs_command" -l stream-dynamic-messages -d 'Fill in templates for each message that a call sends, not once for each call'
complete -c volley -n "__fish_volley_needs_command" -l disable-template-functions -d 'Refuse template functions in data and metadata, such as {{randomInt 1 9}}'
complete -c volley -n "__fish_volley_needs_command" -l disable-template-data -d 'Send data and metadata as they are: do not fill in {{…}}'
complete -c volley -n "__fish_volley_needs_command" -l async -d 'Send each call when it is due, even if its worker still has a call open'
complete -c volley -n "__fish_volley_needs_command" -l spin -d '+ With --rps: wait for the next due call on the CPU, not asleep, so that calls leave less late; each thread then takes a whole CPU (see --threads)'
complete -c volley -n "__fish_volley_needs_command" -l open-on-stdin -d '+ After --warmup, go on until a line comes on stdin: it opens the window of -z; calls that were due before it are not counted'
complete -c volley -n "__fish_volley_needs_command" -l insecure -d 'Use plaintext HTTP/2 (h2c) instead of TLS'
complete -c volley -n "__fish_volley_needs_command" -l skipTLS -d 'Use TLS, but accept any certificate'
complete -c volley -n "__fish_volley_needs_command" -s e -l enable-compression -d 'Compress requests with gzip'
complete -c volley -n "__fish_volley_needs_command" -l count-errors -d 'Include failed calls in the latency figures'
complete -c volley -n "__fish_volley_needs_command" -l show-secrets -d '+ Show secret metadata (authorization, cookie, names with key, token, secret, password) in reports; otherwise *** stands there'
complete -c volley -n "__fish_volley_needs_command" -l quiet -d '+ Print nothing but the report: no live line, no warnings'
complete -c volley -n "__fish_volley_needs_command" -s h -l help -d 'Print this help'
complete -c volley -n "__fish_volley_needs_command" -s v -l version -d 'Print the version'
complete -c volley -n "__fish_volley_needs_command" -a "blast" -d 'Send many calls at the same moment'
complete -c volley -n "__fish_volley_needs_command" -a "check" -d 'Check a scenario file'
complete -c volley -n "__fish_volley_needs_command" -a "compare" -d 'Tell what changed from one run to another'
complete -c volley -n "__fish_volley_needs_command" -a "completions" -d 'Print completions for a shell'
complete -c volley -n "__fish_volley_needs_command" -a "describe" -d 'Show how a server declares a symbol'
complete -c volley -n "__fish_volley_needs_command" -a "edit" -d 'Edit a scenario file in a form in the browser'
complete -c volley -n "__fish_volley_needs_command" -a "find" -d 'Find the highest rate that keeps a limit on response times'
complete -c volley -n "__fish_volley_needs_command" -a "import" -d 'Make a scenario file of a file of another load generator'
complete -c volley -n "__fish_volley_needs_command" -a "list" -d 'List the services of a server'
complete -c volley -n "__fish_volley_needs_command" -a "man" -d 'Print a manual page'
complete -c volley -n "__fish_volley_needs_command" -a "merge" -d 'Make one report of those of several processes'
complete -c volley -n "__fish_volley_needs_command" -a "run" -d 'Run the scenarios of a file'
complete -c volley -n "__fish_volley_needs_command" -a "schema" -d 'Print the JSON Schema of a file for --config, or of a scenario file'
complete -c volley -n "__fish_volley_needs_command" -a "serve" -d 'Start a server to try commands on'
complete -c volley -n "__fish_volley_needs_command" -a "try" -d 'Make one call'
complete -c volley -n "__fish_volley_using_subcommand blast" -l proto -d 'The .proto file that describes the service (default: ask the server, by reflection)' -r -F
complete -c volley -n "__fish_volley_using_subcommand blast" -l protoset -d 'A compiled descriptor set, as protoc --include_imports -o writes it; ignored if --proto is given' -r -F
complete -c volley -n "__fish_volley_using_subcommand blast" -s i -l import-paths -d 'Folders to search for imports, separated by commas; the folder of --proto and the current folder are always searched' -r -F
complete -c volley -n "__fish_volley_using_subcommand blast" -l reflect-metadata -d 'Metadata of the calls that ask the server for its schema, as a JSON object of strings' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l call -d 'The method: package.Service/Method or package.Service.Method' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -s d -l data -d 'Request as JSON, or a list of requests: a client that streams sends them all in each call, otherwise calls take them in turn; @ reads stdin' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -s D -l data-file -d 'Read --data from a file; users.csv (the header names fields) and users.jsonl (an object on each line) are lists' -r -F
complete -c volley -n "__fish_volley_using_subcommand blast" -s B -l binary-file -d 'Read the request from a file, in the format of --binary' -r -F
complete -c volley -n "__fish_volley_using_subcommand blast" -s m -l metadata -d 'Metadata of each call, as a JSON object of strings' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -s M -l metadata-file -d 'Read --metadata from a file' -r -F
complete -c volley -n "__fish_volley_using_subcommand blast" -l requests -d 'N: the calls that are sent at once, at most 1000000 (default 1,2,5,10,20,50,100,200,500,1000,2000,5000,10000)' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l connections -d 'C: the calls go in turn over min(N, C) connections; at most 10000 (default 1,8,1000)' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l repetitions -d 'How often each point (one N with one C) is measured (default 10)' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l seed -d 'Seed for the order of points within each repetition (default 1)' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -s x -l max-duration -d 'End the sweep after this time, even if points are left (default 3m)' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -s t -l timeout -d 'Time limit for each call; 0 means none (default 20s)' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l cpus -d 'Use at most N threads; 0 means the default of --threads' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l threads -d 'Threads that send and receive, at most --connections (default: the CPUs that taskset allows, else half of the host\'s)' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l cacert -d 'Root certificates (PEM) to trust, instead of the system\'s' -r -F
complete -c volley -n "__fish_volley_using_subcommand blast" -l cert -d 'Client certificate chain (PEM); needs --key' -r -F
complete -c volley -n "__fish_volley_using_subcommand blast" -l key -d 'Private key (PEM) of --cert' -r -F
complete -c volley -n "__fish_volley_using_subcommand blast" -l cname -d 'Name that the server\'s certificate must have (default: --authority, else HOST)' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l authority -d 'The :authority header (default: --cname, else HOST)' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l connect-timeout -d 'Time limit for connecting, TLS included (default 10s)' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l max-recv-message-size -d 'Largest reply to accept, as a SIZE (default 2 GiB)' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l max-memory -d 'Most memory for replies that have not come whole, or are inflated, of all calls together, as a SIZE; a larger --max-recv-message-size raises it (default 128MiB)' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l max-send-message-size -d 'Largest message to send, as a SIZE (default 2 GiB)' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l window -d 'HTTP/2 flow-control window of each stream, as a SIZE (default 16MiB)' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l expect -d 'Rule that every reply must satisfy, such as \'result = a + b + i\' (a and b: fields of the request; i: index of the reply); repeatable' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l expect-replies -d 'Number of replies that each call must get' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -s o -l output -d 'Write the report to a file (default: stdout)' -r -F
complete -c volley -n "__fish_volley_using_subcommand blast" -l name -d 'Name of the run, for the report' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -s O -l format -d 'summary (default) or json' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l config -d 'Read the run from a .json, .toml or .yaml file: flags by their long names, or the sections of `volley schema`; the command line takes precedence' -r -F
complete -c volley -n "__fish_volley_using_subcommand blast" -l details -d 'Calls to list one by one: the first N to end (default 0), or all, as ghz does: at most 1000000, the default of csv and influx-details; each takes 40 bytes of memory' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l fail-if -d 'Exit with status 99 if this is so: \'p99 > 20ms\', \'failed > 0.1%\', \'rate < 9000\'; repeatable. Figures: any percentile (p99.9), mean, min, max, also after first-message, gap, service or send-delay; rate and messages (both per second); ok, failed, wrong, cut, sent, missed, late. A condition that cannot be decided fails, too: a time that is only a lower bound ("≥": too many calls had no end), or a percentile of too few calls' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l keepalive -d 'Send a PING after this long without a byte from the server (default 0: never)' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l lb-strategy -d 'How connections use several addresses: pick_first, all use the first that works; or round_robin, they are dealt out to all in turn (default pick_first)' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l reconnect-every -d 'Close each connection after N calls, and open it again (default 0: never)' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l resolve-every -d 'Look the server\'s name up again this often (default 0: when a connection is lost)' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l skipFirst -d 'Leave the first N finished calls out of the report' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l stream-call-count -d 'End each streaming call after N messages: sent (data repeats as needed) or received' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l stream-call-duration -d 'End each streaming call after this time' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l stream-interval -d 'Pause between the messages that a call sends' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l stream-rate -d 'Messages a second that each stream sends, until the window\'s end; -c streams take turns, and each message is due at its own time, from which its reply is timed. For a client and a server that both stream' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -l tags -d 'Tags of the run, for the report, as a JSON object of strings' -r
complete -c volley -n "__fish_volley_using_subcommand blast" -s b -l binary -d 'Read the request from stdin as protobuf: one message, or several, each preceded by its length (varint)'
complete -c volley -n "__fish_volley_using_subcommand blast" -l disable-template-data -d 'Send data and metadata as they are: do not fill in {{…}}'
complete -c volley -n "__fish_volley_using_subcommand blast" -l insecure -d 'Use plaintext HTTP/2 (h2c) instead of TLS'
complete -c volley -n "__fish_volley_using_subcommand blast" -l skipTLS -d 'Use TLS, but accept any certificate'
complete -c volley -n "__fish_volley_using_subcommand blast" -s e -l enable-compression -d 'Compress requests with gzip'
complete -c volley -n "__fish_volley_using_subcommand blast" -l show-secrets -d 'Show secret metadata (authorization, cookie, names with key, token, secret, password) in reports; otherwise *** stands there'
complete -c volley -n "__fish_volley_using_subcommand blast" -l quiet -d 'Print nothing but the report: no live line, no warnings'
complete -c volley -n "__fish_volley_using_subcommand blast" -s h -l help -d 'Print this help'
complete -c volley -n "__fish_volley_using_subcommand blast" -l count-errors -d 'Include failed calls in the latency figures'
complete -c volley -n "__fish_volley_using_subcommand blast" -l disable-template-functions -d 'Refuse template functions in data and metadata, such as {{randomInt 1 9}}'
complete -c volley -n "__fish_volley_using_subcommand blast" -l stream-dynamic-messages -d 'Fill in templates for each message that a call sends, not once for each call'
complete -c volley -n "__fish_volley_using_subcommand check" -l once -d 'Run each scenario once, and show each request and response'
complete -c volley -n "__fish_volley_using_subcommand check" -l allow-io -d 'With --once: let scripts of Lua use files, modules and programs'
complete -c volley -n "__fish_volley_using_subcommand check" -s h -l help -d 'Print this help'
complete -c volley -n "__fish_volley_using_subcommand compare" -l fail-if -d 'Exit with status 99 if this is so; repeatable. \'FIGURE ratio > 1.1\', for rate, messages, mean and percentiles; or what --fail-if of a run takes, see `volley --help`' -r
complete -c volley -n "__fish_volley_using_subcommand compare" -s o -l output -d 'Write the result to a file (default: stdout)' -r -F
complete -c volley -n "__fish_volley_using_subcommand compare" -s O -l format -d 'summary (default), json or markdown' -r
complete -c volley -n "__fish_volley_using_subcommand compare" -s h -l help -d 'Print this help'
complete -c volley -n "__fish_volley_using_subcommand describe" -l proto -d 'The .proto file that describes the service (default: ask the server, by reflection)' -r -F
complete -c volley -n "__fish_volley_using_subcommand describe" -l protoset -d 'A compiled descriptor set, as protoc --include_imports -o writes it; ignored if --proto is given' -r -F
complete -c volley -n "__fish_volley_using_subcommand describe" -s i -l import-paths -d 'Folders to search for imports, separated by commas; the folder of --proto and the current folder are always searched' -r -F
complete -c volley -n "__fish_volley_using_subcommand describe" -l reflect-metadata -d 'Metadata of the calls that ask the server for its schema, as a JSON object of strings' -r
complete -c volley -n "__fish_volley_using_subcommand describe" -l cacert -d 'Root certificates (PEM) to trust, instead of the system\'s' -r -F
complete -c volley -n "__fish_volley_using_subcommand describe" -l cert -d 'Client certificate chain (PEM); needs --key' -r -F
complete -c volley -n "__fish_volley_using_subcommand describe" -l key -d 'Private key (PEM) of --cert' -r -F
complete -c volley -n "__fish_volley_using_subcommand describe" -l cname -d 'Name that the server\'s certificate must have (default: --authority, else HOST)' -r
complete -c volley -n "__fish_volley_using_subcommand describe" -l authority -d 'The :authority header (default: --cname, else HOST)' -r
complete -c volley -n "__fish_volley_using_subcommand describe" -l connect-timeout -d 'Time limit for connecting, TLS included (default 10s)' -r
complete -c volley -n "__fish_volley_using_subcommand describe" -l call -d 'The method: package.Service/Method or package.Service.Method' -r
complete -c volley -n "__fish_volley_using_subcommand describe" -l config -d 'Read the run from a .json, .toml or .yaml file: flags by their long names, or the sections of `volley schema`; the command line takes precedence' -r -F
complete -c volley -n "__fish_volley_using_subcommand describe" -l keepalive -d 'Send a PING after this long without a byte from the server (default 0: never)' -r
complete -c volley -n "__fish_volley_using_subcommand describe" -l lb-strategy -d 'How connections use several addresses: pick_first, all use the first that works; or round_robin, they are dealt out to all in turn (default pick_first)' -r
complete -c volley -n "__fish_volley_using_subcommand describe" -l max-memory -d 'Most memory for replies that have not come whole, or are inflated, of all calls together, as a SIZE; a larger --max-recv-message-size raises it (default 128MiB)' -r
complete -c volley -n "__fish_volley_using_subcommand describe" -l max-recv-message-size -d 'Largest reply to accept, as a SIZE (default 2 GiB)' -r
complete -c volley -n "__fish_volley_using_subcommand describe" -l max-send-message-size -d 'Largest message to send, as a SIZE (default 2 GiB)' -r
complete -c volley -n "__fish_volley_using_subcommand describe" -l reconnect-every -d 'Close each connection after N calls, and open it again (default 0: never)' -r
complete -c volley -n "__fish_volley_using_subcommand describe" -l resolve-every -d 'Look the server\'s name up again this often (default 0: when a connection is lost)' -r
complete -c volley -n "__fish_volley_using_subcommand describe" -l window -d 'HTTP/2 flow-control window of each stream, as a SIZE (default 16MiB)' -r
complete -c volley -n "__fish_volley_using_subcommand describe" -l insecure -d 'Use plaintext HTTP/2 (h2c) instead of TLS'
complete -c volley -n "__fish_volley_using_subcommand describe" -l skipTLS -d 'Use TLS, but accept any certificate'
complete -c volley -n "__fish_volley_using_subcommand describe" -s h -l help -d 'Print this help'
complete -c volley -n "__fish_volley_using_subcommand describe" -s e -l enable-compression -d 'Compress requests with gzip'
complete -c volley -n "__fish_volley_using_subcommand edit" -l listen -d 'Where to listen on this host, such as :4300; port 0 takes a free one' -r
complete -c volley -n "__fish_volley_using_subcommand edit" -l allow-io -d 'Let scripts of Lua use files, modules and programs'
complete -c volley -n "__fish_volley_using_subcommand edit" -l licenses -d 'Print the licences of what the page is made of'
complete -c volley -n "__fish_volley_using_subcommand edit" -s h -l help -d 'Print this help'
complete -c volley -n "__fish_volley_using_subcommand find" -l proto -d 'The .proto file that describes the service (default: ask the server, by reflection)' -r -F
complete -c volley -n "__fish_volley_using_subcommand find" -l protoset -d 'A compiled descriptor set, as protoc --include_imports -o writes it; ignored if --proto is given' -r -F
complete -c volley -n "__fish_volley_using_subcommand find" -s i -l import-paths -d 'Folders to search for imports, separated by commas; the folder of --proto and the current folder are always searched' -r -F
complete -c volley -n "__fish_volley_using_subcommand find" -l reflect-metadata -d 'Metadata of the calls that ask the server for its schema, as a JSON object of strings' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l call -d 'The method: package.Service/Method or package.Service.Method' -r
complete -c volley -n "__fish_volley_using_subcommand find" -s d -l data -d 'Request as JSON, or a list of requests: a client that streams sends them all in each call, otherwise calls take them in turn; @ reads stdin' -r
complete -c volley -n "__fish_volley_using_subcommand find" -s D -l data-file -d 'Read --data from a file; users.csv (the header names fields) and users.jsonl (an object on each line) are lists' -r -F
complete -c volley -n "__fish_volley_using_subcommand find" -s B -l binary-file -d 'Read the request from a file, in the format of --binary' -r -F
complete -c volley -n "__fish_volley_using_subcommand find" -s m -l metadata -d 'Metadata of each call, as a JSON object of strings' -r
complete -c volley -n "__fish_volley_using_subcommand find" -s M -l metadata-file -d 'Read --metadata from a file' -r -F
complete -c volley -n "__fish_volley_using_subcommand find" -l stream-interval -d 'Pause between the messages that a call sends' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l stream-call-duration -d 'End each streaming call after this time' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l stream-call-count -d 'End each streaming call after N messages: sent (data repeats as needed) or received' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l p99 -d 'The longest response time that 99 % of the calls may have; needed' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l failed -d 'The share of calls that may fail (default 0.1%)' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l budget -d 'How long load is made in all, waits not included; at least 20s (default 60s)' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l connections -d 'Connections (default 1)' -r
complete -c volley -n "__fish_volley_using_subcommand find" -s t -l timeout -d 'Time limit for each call; 0 means none (default 20s)' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l cpus -d 'Use at most N threads; 0 means the default of --threads' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l threads -d 'Threads that send and receive, at most --connections (default: the CPUs that taskset allows, else half of the host\'s)' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l cacert -d 'Root certificates (PEM) to trust, instead of the system\'s' -r -F
complete -c volley -n "__fish_volley_using_subcommand find" -l cert -d 'Client certificate chain (PEM); needs --key' -r -F
complete -c volley -n "__fish_volley_using_subcommand find" -l key -d 'Private key (PEM) of --cert' -r -F
complete -c volley -n "__fish_volley_using_subcommand find" -l cname -d 'Name that the server\'s certificate must have (default: --authority, else HOST)' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l authority -d 'The :authority header (default: --cname, else HOST)' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l lb-strategy -d 'How connections use several addresses: pick_first, all use the first that works; or round_robin, they are dealt out to all in turn (default pick_first)' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l resolve-every -d 'Look the server\'s name up again this often (default 0: when a connection is lost)' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l reconnect-every -d 'Close each connection after N calls, and open it again (default 0: never)' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l connect-timeout -d 'Time limit for connecting, TLS included (default 10s)' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l keepalive -d 'Send a PING after this long without a byte from the server (default 0: never)' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l max-recv-message-size -d 'Largest reply to accept, as a SIZE (default 2 GiB)' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l max-memory -d 'Most memory for replies that have not come whole, or are inflated, of all calls together, as a SIZE; a larger --max-recv-message-size raises it (default 128MiB)' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l max-send-message-size -d 'Largest message to send, as a SIZE (default 2 GiB)' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l window -d 'HTTP/2 flow-control window of each stream, as a SIZE (default 16MiB)' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l expect -d 'Rule that every reply must satisfy, such as \'result = a + b + i\' (a and b: fields of the request; i: index of the reply); repeatable' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l expect-replies -d 'Number of replies that each call must get' -r
complete -c volley -n "__fish_volley_using_subcommand find" -s o -l output -d 'Write the report to a file (default: stdout)' -r -F
complete -c volley -n "__fish_volley_using_subcommand find" -l name -d 'Name of the run, for the report' -r
complete -c volley -n "__fish_volley_using_subcommand find" -s O -l format -d 'summary (default) or json' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l config -d 'Read the run from a .json, .toml or .yaml file: flags by their long names, or the sections of `volley schema`; the command line takes precedence' -r -F
complete -c volley -n "__fish_volley_using_subcommand find" -l details -d 'Calls to list one by one: the first N to end (default 0), or all, as ghz does: at most 1000000, the default of csv and influx-details; each takes 40 bytes of memory' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l fail-if -d 'Exit with status 99 if this is so: \'p99 > 20ms\', \'failed > 0.1%\', \'rate < 9000\'; repeatable. Figures: any percentile (p99.9), mean, min, max, also after first-message, gap, service or send-delay; rate and messages (both per second); ok, failed, wrong, cut, sent, missed, late. A condition that cannot be decided fails, too: a time that is only a lower bound ("≥": too many calls had no end), or a percentile of too few calls' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l skipFirst -d 'Leave the first N finished calls out of the report' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l stream-rate -d 'Messages a second that each stream sends, until the window\'s end; -c streams take turns, and each message is due at its own time, from which its reply is timed. For a client and a server that both stream' -r
complete -c volley -n "__fish_volley_using_subcommand find" -l tags -d 'Tags of the run, for the report, as a JSON object of strings' -r
complete -c volley -n "__fish_volley_using_subcommand find" -s b -l binary -d 'Read the request from stdin as protobuf: one message, or several, each preceded by its length (varint)'
complete -c volley -n "__fish_volley_using_subcommand find" -l stream-dynamic-messages -d 'Fill in templates for each message that a call sends, not once for each call'
complete -c volley -n "__fish_volley_using_subcommand find" -l disable-template-functions -d 'Refuse template functions in data and metadata, such as {{randomInt 1 9}}'
complete -c volley -n "__fish_volley_using_subcommand find" -l disable-template-data -d 'Send data and metadata as they are: do not fill in {{…}}'
complete -c volley -n "__fish_volley_using_subcommand find" -l insecure -d 'Use plaintext HTTP/2 (h2c) instead of TLS'
complete -c volley -n "__fish_volley_using_subcommand find" -l skipTLS -d 'Use TLS, but accept any certificate'
complete -c volley -n "__fish_volley_using_subcommand find" -s e -l enable-compression -d 'Compress requests with gzip'
complete -c volley -n "__fish_volley_using_subcommand find" -l quiet -d 'Print nothing but the report: no live line, no warnings'
complete -c volley -n "__fish_volley_using_subcommand find" -s h -l help -d 'Print this help'
complete -c volley -n "__fish_volley_using_subcommand find" -l count-errors -d 'Include failed calls in the latency figures'
complete -c volley -n "__fish_volley_using_subcommand find" -l show-secrets -d 'Show secret metadata (authorization, cookie, names with key, token, secret, password) in reports; otherwise *** stands there'
complete -c volley -n "__fish_volley_using_subcommand import" -s o -l output -d 'Write the scenario to a file: JSON if its name ends with .json, otherwise YAML (default: stdout)' -r -F
complete -c volley -n "__fish_volley_using_subcommand import" -l as-run -d 'Do what h2loadrunner does, not what its schema says'
complete -c volley -n "__fish_volley_using_subcommand import" -s h -l help -d 'Print this help'
complete -c volley -n "__fish_volley_using_subcommand list" -l proto -d 'The .proto file that describes the service (default: ask the server, by reflection)' -r -F
complete -c volley -n "__fish_volley_using_subcommand list" -l protoset -d 'A compiled descriptor set, as protoc --include_imports -o writes it; ignored if --proto is given' -r -F
complete -c volley -n "__fish_volley_using_subcommand list" -s i -l import-paths -d 'Folders to search for imports, separated by commas; the folder of --proto and the current folder are always searched' -r -F
complete -c volley -n "__fish_volley_using_subcommand list" -l reflect-metadata -d 'Metadata of the calls that ask the server for its schema, as a JSON object of strings' -r
complete -c volley -n "__fish_volley_using_subcommand list" -l cacert -d 'Root certificates (PEM) to trust, instead of the system\'s' -r -F
complete -c volley -n "__fish_volley_using_subcommand list" -l cert -d 'Client certificate chain (PEM); needs --key' -r -F
complete -c volley -n "__fish_volley_using_subcommand list" -l key -d 'Private key (PEM) of --cert' -r -F
complete -c volley -n "__fish_volley_using_subcommand list" -l cname -d 'Name that the server\'s certificate must have (default: --authority, else HOST)' -r
complete -c volley -n "__fish_volley_using_subcommand list" -l authority -d 'The :authority header (default: --cname, else HOST)' -r
complete -c volley -n "__fish_volley_using_subcommand list" -l connect-timeout -d 'Time limit for connecting, TLS included (default 10s)' -r
complete -c volley -n "__fish_volley_using_subcommand list" -l call -d 'The method: package.Service/Method or package.Service.Method' -r
complete -c volley -n "__fish_volley_using_subcommand list" -l config -d 'Read the run from a .json, .toml or .yaml file: flags by their long names, or the sections of `volley schema`; the command line takes precedence' -r -F
complete -c volley -n "__fish_volley_using_subcommand list" -l keepalive -d 'Send a PING after this long without a byte from the server (default 0: never)' -r
complete -c volley -n "__fish_volley_using_subcommand list" -l lb-strategy -d 'How connections use several addresses: pick_first, all use the first that works; or round_robin, they are dealt out to all in turn (default pick_first)' -r
complete -c volley -n "__fish_volley_using_subcommand list" -l max-memory -d 'Most memory for replies that have not come whole, or are inflated, of all calls together, as a SIZE; a larger --max-recv-message-size raises it (default 128MiB)' -r
complete -c volley -n "__fish_volley_using_subcommand list" -l max-recv-message-size -d 'Largest reply to accept, as a SIZE (default 2 GiB)' -r
complete -c volley -n "__fish_volley_using_subcommand list" -l max-send-message-size -d 'Largest message to send, as a SIZE (default 2 GiB)' -r
complete -c volley -n "__fish_volley_using_subcommand list" -l reconnect-every -d 'Close each connection after N calls, and open it again (default 0: never)' -r
complete -c volley -n "__fish_volley_using_subcommand list" -l resolve-every -d 'Look the server\'s name up again this often (default 0: when a connection is lost)' -r
complete -c volley -n "__fish_volley_using_subcommand list" -l window -d 'HTTP/2 flow-control window of each stream, as a SIZE (default 16MiB)' -r
complete -c volley -n "__fish_volley_using_subcommand list" -l insecure -d 'Use plaintext HTTP/2 (h2c) instead of TLS'
complete -c volley -n "__fish_volley_using_subcommand list" -l skipTLS -d 'Use TLS, but accept any certificate'
complete -c volley -n "__fish_volley_using_subcommand list" -s h -l help -d 'Print this help'
complete -c volley -n "__fish_volley_using_subcommand list" -s e -l enable-compression -d 'Compress requests with gzip'
complete -c volley -n "__fish_volley_using_subcommand merge" -l fail-if -d 'Exit with status 99 if so, such as \'p99 > 20ms\' (see `volley --help`); repeatable' -r
complete -c volley -n "__fish_volley_using_subcommand merge" -s o -l output -d 'Write the report to a file (default: stdout)' -r -F
complete -c volley -n "__fish_volley_using_subcommand merge" -s O -l format -d 'summary (default), csv, json, pretty (json for people), html, prometheus, influx-summary or influx-details' -r
complete -c volley -n "__fish_volley_using_subcommand merge" -l partial -d 'Merge some of the shares, such as those of one host; the report can be merged with the others'
complete -c volley -n "__fish_volley_using_subcommand merge" -s h -l help -d 'Print this help'
complete -c volley -n "__fish_volley_using_subcommand run" -l threads -d 'Threads that send (default: half of the CPUs, at most one for each connection)' -r
complete -c volley -n "__fish_volley_using_subcommand run" -l max-memory -d 'Most memory for bodies that have not come whole, or are inflated, of all requests together, as a SIZE; a larger `limits.body` raises it (default 128MiB)' -r
complete -c volley -n "__fish_volley_using_subcommand run" -s z -l duration -d 'End the program after this time, such as 30s (default: it ends by itself)' -r
complete -c volley -n "__fish_volley_using_subcommand run" -l cacert -d 'Trust the authorities in this PEM file' -r -F
complete -c volley -n "__fish_volley_using_subcommand run" -l cert -d 'Show this certificate, and prove it with --key' -r -F
complete -c volley -n "__fish_volley_using_subcommand run" -l key -d 'The private key of --cert' -r -F
complete -c volley -n "__fish_volley_using_subcommand run" -l fail-if -d 'Exit with status 99 if this is so; repeatable' -r
complete -c volley -n "__fish_volley_using_subcommand run" -s o -l output -d 'Write the report to a file (default: stdout)' -r -F
complete -c volley -n "__fish_volley_using_subcommand run" -s O -l format -d 'summary, json, pretty, csv, html or prometheus (default: what the name of -o ends with, .json, .csv, .html or .prom; otherwise summary)' -r -f -a "summary\t''
json\t''
pretty\t''
csv\t''
html\t''
prometheus\t''"
complete -c volley -n "__fish_volley_using_subcommand run" -l log -d 'Write a line of JSON for each request' -r -F
complete -c volley -n "__fish_volley_using_subcommand run" -l save-failures -d 'Write a line of JSON for each of the first 1,000 requests that fail, with what was sent and what came back; secrets are masked' -r -F
complete -c volley -n "__fish_volley_using_subcommand run" -l metrics -d 'Serve Prometheus metrics at GET /metrics of an ADDRESS: 127.0.0.1:9090, :9090 (localhost) or unix:/path' -r
complete -c volley -n "__fish_volley_using_subcommand run" -l control -d 'The same, and take orders (default: the file\'s `control`): GET /v1/stats, POST /v1/pause, /v1/resume and /v1/stop, PATCH /v1/load {"rate": "0.5/s"}, {"users": N}, {"phases": true} or {"weights": {"crud": N}}; of several loads, one is named by {"scenario": "crud"}, or by a list of those that share it' -r
complete -c volley -n "__fish_volley_using_subcommand run" -l control-token -d 'Clients must send this token (Authorization: Bearer TOKEN); needed where other hosts can reach an ADDRESS (default: $VOLLEY_TOKEN)' -r
complete -c volley -n "__fish_volley_using_subcommand run" -l allow-io -d 'Let scripts of Lua use files, modules and programs: whatever this user can reach'
complete -c volley -n "__fish_volley_using_subcommand run" -l skipTLS -d 'Accept any certificate of a server'
complete -c volley -n "__fish_volley_using_subcommand run" -l quiet -d 'Print nothing but the report, errors and failed thresholds'
complete -c volley -n "__fish_volley_using_subcommand run" -s h -l help -d 'Print this help'
complete -c volley -n "__fish_volley_using_subcommand serve" -l listen -d 'IP address and port to listen on; port 0 takes a free one (default 127.0.0.1:8080). Or a Unix socket: unix:/path, unix-abstract:name' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l tls-cert -d 'Certificate chain (PEM): speak TLS instead of plaintext; needs --tls-key' -r -F
complete -c volley -n "__fish_volley_using_subcommand serve" -l tls-key -d 'Private key (PEM) of --tls-cert' -r -F
complete -c volley -n "__fish_volley_using_subcommand serve" -l threads -d 'Threads that serve connections (default: one per CPU)' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l max-concurrent-streams -d 'Streams that a client may have open on one connection (default: no limit)' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l token-life -d 'How long a token of /oauth/token says that it is valid (default 1h); no request needs one' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l service -d 'Let calls queue, first in, first out, and serve each for a random time before its answer: exp:1ms for exponential times with that mean' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l servers -d 'Calls that --service serves at once (default 1)' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l seed -d 'Seed for the times of --service (default 1)' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l delay -d 'Wait this long before each answer' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l delay-every -d 'Let only every N-th answer wait for --delay' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l freeze -d 'Stop all work for FOR, starting AT after the first call, as in 2s:1s' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l unanswered-every -d 'Never answer every N-th call' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l reset-every -d 'End every N-th call with RST_STREAM' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l goaway-after -d 'Send GOAWAY on a connection after N calls' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l wrong-value-at -d 'Put a wrong value into reply I of each call; the first reply is 0' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l trailers-only-every -d 'Answer every N-th call with only an error in trailers' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l truncate-every -d 'End every N-th call in the middle of a message' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l garbage-every -d 'Answer every N-th call with bytes that are not HTTP/2' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l close-every -d 'Close the connection in the middle of every N-th call' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l status-every -d 'Answer every N-th request of items with this HTTP status, as in 503:100; repeatable' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l no-location-every -d 'Leave `location` out for every N-th new item' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l duplicate-every -d 'Give the client of every N-th new item the id of the one before' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l wrong-value-every -d 'Answer every N-th item with a wrong `sku`' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -l bad-json-every -d 'Answer every N-th item with broken JSON' -r
complete -c volley -n "__fish_volley_using_subcommand serve" -s h -l help -d 'Print this help'
complete -c volley -n "__fish_volley_using_subcommand try" -l proto -d 'The .proto file that describes the service (default: ask the server, by reflection)' -r -F
complete -c volley -n "__fish_volley_using_subcommand try" -l protoset -d 'A compiled descriptor set, as protoc --include_imports -o writes it; ignored if --proto is given' -r -F
complete -c volley -n "__fish_volley_using_subcommand try" -s i -l import-paths -d 'Folders to search for imports, separated by commas; the folder of --proto and the current folder are always searched' -r -F
complete -c volley -n "__fish_volley_using_subcommand try" -l reflect-metadata -d 'Metadata of the calls that ask the server for its schema, as a JSON object of strings' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l call -d 'The method: package.Service/Method or package.Service.Method' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l config -d 'Read the run from a .json, .toml or .yaml file: flags by their long names, or the sections of `volley schema`; the command line takes precedence' -r -F
complete -c volley -n "__fish_volley_using_subcommand try" -s d -l data -d 'Request as JSON, or a list of requests: a client that streams sends them all in each call, otherwise calls take them in turn; @ reads stdin' -r
complete -c volley -n "__fish_volley_using_subcommand try" -s D -l data-file -d 'Read --data from a file; users.csv (the header names fields) and users.jsonl (an object on each line) are lists' -r -F
complete -c volley -n "__fish_volley_using_subcommand try" -s B -l binary-file -d 'Read the request from a file, in the format of --binary' -r -F
complete -c volley -n "__fish_volley_using_subcommand try" -s m -l metadata -d 'Metadata of each call, as a JSON object of strings' -r
complete -c volley -n "__fish_volley_using_subcommand try" -s M -l metadata-file -d 'Read --metadata from a file' -r -F
complete -c volley -n "__fish_volley_using_subcommand try" -l stream-call-duration -d 'End each streaming call after this time' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l stream-call-count -d 'End each streaming call after N messages: sent (data repeats as needed) or received' -r
complete -c volley -n "__fish_volley_using_subcommand try" -s t -l timeout -d 'Time limit for each call; 0 means none (default 20s)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l cacert -d 'Root certificates (PEM) to trust, instead of the system\'s' -r -F
complete -c volley -n "__fish_volley_using_subcommand try" -l cert -d 'Client certificate chain (PEM); needs --key' -r -F
complete -c volley -n "__fish_volley_using_subcommand try" -l key -d 'Private key (PEM) of --cert' -r -F
complete -c volley -n "__fish_volley_using_subcommand try" -l cname -d 'Name that the server\'s certificate must have (default: --authority, else HOST)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l authority -d 'The :authority header (default: --cname, else HOST)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l connect-timeout -d 'Time limit for connecting, TLS included (default 10s)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l max-recv-message-size -d 'Largest reply to accept, as a SIZE (default 2 GiB)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l max-memory -d 'Most memory for replies that have not come whole, or are inflated, of all calls together, as a SIZE; a larger --max-recv-message-size raises it (default 128MiB)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l max-send-message-size -d 'Largest message to send, as a SIZE (default 2 GiB)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l window -d 'HTTP/2 flow-control window of each stream, as a SIZE (default 16MiB)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -s o -l output -d 'Write the report to a file (default: stdout)' -r -F
complete -c volley -n "__fish_volley_using_subcommand try" -l max-replies -d 'Show at most N replies (default 100)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -s O -l format -d 'pretty (JSON for people, default) or json' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l stream-interval -d 'Pause between the messages that a call sends' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l stream-rate -d 'Messages a second that each stream sends, until the window\'s end; -c streams take turns, and each message is due at its own time, from which its reply is timed. For a client and a server that both stream' -r
complete -c volley -n "__fish_volley_using_subcommand try" -s n -l total -d 'Calls to make (default 200)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -s z -l duration -d 'Make calls for this long; -n is then ignored' -r
complete -c volley -n "__fish_volley_using_subcommand try" -s x -l max-duration -d 'End the run after this time at the latest' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l duration-stop -d 'What happens to calls that are still open at the end: close cuts them (default), wait lets them finish, ignore cuts them and counts only their ages' -r -f -a "close\t''
wait\t''
ignore\t''"
complete -c volley -n "__fish_volley_using_subcommand try" -s c -l concurrency -d 'Workers; each has one call open at a time (default 50)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l connections -d 'Connections, shared evenly by the workers; at most -c (default 1)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -s r -l rps -d 'Calls per second, all workers together; latency is then measured from when a call was due (default 0: no limit)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l cpus -d 'Use at most N threads; 0 means the default of --threads' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l threads -d 'Threads that send and receive, at most --connections (default: the CPUs that taskset allows, else half of the host\'s)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l share -d 'Make the K-th of N parts of the load: calls and connections are dealt out in turn, and the JSON report holds what `volley merge` needs' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l start-at -d 'Start the load when CLOCK_MONOTONIC shows this many ns, or those that come as a line on stdin; a line `volley: ready` on stderr says that all connections stand' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l coalesce-sends -d 'With --rps: wake at most once in this time, such as 10ms, to look for replies and to send what is due, which takes less CPU at high rates; calls are late by up to as much, and the report says so' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l warmup -d 'Run the same load for this long first, without counting it' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l warmup-at-most -d 'With --open-on-stdin: end the run if its warm-up gets longer than this (default 5m)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l drain-timeout -d 'With --duration-stop wait: time limit for open calls to finish (default: that of -t, else 20s)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l load-schedule -d 'const (default, see --rps), step or line' -r -f -a "const\t''
step\t''
line\t''"
complete -c volley -n "__fish_volley_using_subcommand try" -l load-start -d 'Calls/s at the start (default 0)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l load-step -d 'Calls/s to add per step, or per second of a line' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l load-end -d 'Calls/s at which the change ends (default 0: no upper bound)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l load-step-duration -d 'Length of each step (step only)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l load-max-duration -d 'Stop the change after this time' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l concurrency-schedule -d 'const (default, see -c), step or line' -r -f -a "const\t''
step\t''
line\t''"
complete -c volley -n "__fish_volley_using_subcommand try" -l concurrency-start -d 'Workers at the start (default 0)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l concurrency-step -d 'Workers to add per step, or per second (default 1)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l concurrency-end -d 'Workers at which the change ends (default 0: no upper bound)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l concurrency-step-duration -d 'Length of each step (step only)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l concurrency-max-duration -d 'Stop the change after this time' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l lb-strategy -d 'How connections use several addresses: pick_first, all use the first that works; or round_robin, they are dealt out to all in turn (default pick_first)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l resolve-every -d 'Look the server\'s name up again this often (default 0: when a connection is lost)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l reconnect-every -d 'Close each connection after N calls, and open it again (default 0: never)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l keepalive -d 'Send a PING after this long without a byte from the server (default 0: never)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l expect -d 'Rule that every reply must satisfy, such as \'result = a + b + i\' (a and b: fields of the request; i: index of the reply); repeatable' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l expect-replies -d 'Number of replies that each call must get' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l fail-if -d 'Exit with status 99 if this is so: \'p99 > 20ms\', \'failed > 0.1%\', \'rate < 9000\'; repeatable. Figures: any percentile (p99.9), mean, min, max, also after first-message, gap, service or send-delay; rate and messages (both per second); ok, failed, wrong, cut, sent, missed, late. A condition that cannot be decided fails, too: a time that is only a lower bound ("≥": too many calls had no end), or a percentile of too few calls' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l name -d 'Name of the run, for the report' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l tags -d 'Tags of the run, for the report, as a JSON object of strings' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l skipFirst -d 'Leave the first N finished calls out of the report' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l details -d 'Calls to list one by one: the first N to end (default 0), or all, as ghz does: at most 1000000, the default of csv and influx-details; each takes 40 bytes of memory' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l debug -d 'Write a log to a file: lines of JSON for the start, each second, each change, the kept calls of --details, and the end; - is stdout' -r -F
complete -c volley -n "__fish_volley_using_subcommand try" -l live-json -d 'Write a line of JSON for each second; - is stdout' -r -F
complete -c volley -n "__fish_volley_using_subcommand try" -l metrics -d 'Serve Prometheus metrics at GET /metrics of an ADDRESS: 127.0.0.1:9090, :9090 (localhost) or unix:/path' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l control -d 'The same, and take orders: PATCH /v1/load {"rps": N} or {"concurrency": N}, POST /v1/pause, /v1/resume and /v1/stop, GET /v1/stats' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l print-replies -d 'Print the first N replies to stderr, a line of JSON each' -r
complete -c volley -n "__fish_volley_using_subcommand try" -l save-replies -d 'Save all replies and statuses, a line of JSON each; the load waits for the file if it must; - is stdout' -r -F
complete -c volley -n "__fish_volley_using_subcommand try" -l control-token -d 'Clients must send this token (Authorization: Bearer TOKEN); needed where other hosts can reach an ADDRESS (default: $VOLLEY_TOKEN)' -r
complete -c volley -n "__fish_volley_using_subcommand try" -s b -l binary -d 'Read the request from stdin as protobuf: one message, or several, each preceded by its length (varint)'
complete -c volley -n "__fish_volley_using_subcommand try" -l stream-dynamic-messages -d 'Fill in templates for each message that a call sends, not once for each call'
complete -c volley -n "__fish_volley_using_subcommand try" -l disable-template-functions -d 'Refuse template functions in data and metadata, such as {{randomInt 1 9}}'
complete -c volley -n "__fish_volley_using_subcommand try" -l disable-template-data -d 'Send data and metadata as they are: do not fill in {{…}}'
complete -c volley -n "__fish_volley_using_subcommand try" -l insecure -d 'Use plaintext HTTP/2 (h2c) instead of TLS'
complete -c volley -n "__fish_volley_using_subcommand try" -l skipTLS -d 'Use TLS, but accept any certificate'
complete -c volley -n "__fish_volley_using_subcommand try" -s e -l enable-compression -d 'Compress requests with gzip'
complete -c volley -n "__fish_volley_using_subcommand try" -l show-secrets -d 'Show secret metadata (authorization, cookie, names with key, token, secret, password) in reports; otherwise *** stands there'
complete -c volley -n "__fish_volley_using_subcommand try" -l quiet -d 'Print nothing but the report: no live line, no warnings'
complete -c volley -n "__fish_volley_using_subcommand try" -s h -l help -d 'Print this help'
complete -c volley -n "__fish_volley_using_subcommand try" -l async -d 'Send each call when it is due, even if its worker still has a call open'
complete -c volley -n "__fish_volley_using_subcommand try" -l spin -d 'With --rps: wait for the next due call on the CPU, not asleep, so that calls leave less late; each thread then takes a whole CPU (see --threads)'
complete -c volley -n "__fish_volley_using_subcommand try" -l open-on-stdin -d 'After --warmup, go on until a line comes on stdin: it opens the window of -z; calls that were due before it are not counted'
complete -c volley -n "__fish_volley_using_subcommand try" -l count-errors -d 'Include failed calls in the latency figures'
