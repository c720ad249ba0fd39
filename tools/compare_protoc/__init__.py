"""volley's reading of .proto files, descriptor sets, messages and JSON beside protoc's.

`generating` makes files by seed and `breaking` breaks some of them; `collecting` finds those of
installed packages. `filling` makes messages of their types, `jsons` the JSON to be read. `asking`
asks `protoc` and `volley` about each, `comparing` tells what differs, `shrinking` what of it is
enough, and `allowed` what may differ.
"""
