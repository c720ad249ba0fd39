"""Asks volley about files and messages."""

import base64
import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.compare_protoc.jsons import Letter


@dataclass(frozen=True)
class Answer:
    """What volley says of a schema or a message: `bytes`, `json`, or why there is neither."""

    kind: str
    value: Any

    @classmethod
    def of(cls, answer: dict[str, Any]) -> "Answer":
        """Read an answer's JSON."""
        ((kind, value),) = answer.items()
        return cls(kind, base64.b64decode(value) if kind == "bytes" else value)


DIED = Answer("died", "the program ended")


class Volley:
    """The program `protoc_peer`, which is started again if it dies."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._words = [str(program.resolve())]
        self._folder = folder
        self._peer: subprocess.Popen[bytes] | None = None

    def asked(
        self,
        file: Path,
        paths: Sequence[Path],
        letters: Sequence[Letter] = (),
        *,
        protoset: bool = False,
    ) -> tuple[Answer, list[Answer]]:
        """Return what volley makes of a file, and of messages of its types."""
        question = {
            "file": str(file), "protoset": protoset, "import_paths": [str(path) for path in paths],
            "messages": [letter.question() for letter in letters],
        }  # fmt: skip
        line = self._answer(json.dumps(question).encode() + b"\n")
        if not line:
            if len(letters) > 1:
                each = [self.asked(file, paths, [letter], protoset=protoset) for letter in letters]
                return each[0][0], [answers[0] if answers else DIED for _, answers in each]
            return DIED, [DIED for _ in letters]
        answers = json.loads(line)
        return Answer.of(answers["schema"]), [Answer.of(each) for each in answers["messages"]]

    def _answer(self, line: bytes) -> bytes:
        if self._peer is None:
            pipe = subprocess.PIPE
            self._peer = subprocess.Popen(
                self._words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd=self._folder
            )
        assert self._peer.stdin  # noqa: S101
        assert self._peer.stdout  # noqa: S101
        try:
            self._peer.stdin.write(line)
            self._peer.stdin.flush()
            answer = self._peer.stdout.readline()
        except BrokenPipeError:
            answer = b""
        if not answer.endswith(b"\n"):
            self.close()
            return b""
        return answer

    def close(self) -> None:
        """End the program."""
        if self._peer is not None:
            self._peer.kill()
            self._peer.communicate()
            self._peer = None
