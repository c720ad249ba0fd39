"""How a program starts and ends: every failure is one line on stderr and an exit code."""

import os
import sys
from typing import NoReturn

import click

from arena.base.errors import EXIT_INTERRUPTED, EXIT_NO_READER, ArenaError, HostError, UsageError
from arena.base.progress import report_error
from arena.machine import interrupts


def start(command: click.Command, name: str) -> NoReturn:
    """Run a command on this process's arguments, and exit with its code."""
    interrupts.install()
    sys.exit(_code_of(command, name))


def _code_of(command: click.Command, name: str) -> int:
    try:
        returned = command.main(prog_name=name, standalone_mode=False)
        code = returned if isinstance(returned, int) else 0
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        code = EXIT_INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = UsageError.exit_code
    except click.UsageError as error:
        report_error(f"{error.format_message()} (see --help)")
        code = UsageError.exit_code
    except ArenaError as error:
        report_error(str(error))
        code = error.exit_code
    except (BrokenPipeError, SystemExit):
        # The reader has closed the output, like `head`. click exits by itself in this case, and in
        # no other. Python would complain when it flushes stdout at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_NO_READER
    except Exception as error:
        if os.environ.get("ARENA_DEBUG"):
            raise
        report_error(_words(error))
        code = HostError.exit_code
    return code


def _words(error: Exception) -> str:
    if isinstance(error, OSError):
        # A full disk or too many processes can cause this anywhere.
        from arena.machine import blame

        return blame.words(error)
    return (
        f"this is a bug: {type(error).__name__}: {error} "
        "(please report it with the output of ARENA_DEBUG=1)"
    )
