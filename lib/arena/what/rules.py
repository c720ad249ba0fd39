"""Rules for replies, such as `result = a + b + i`, with volley's meaning (`--expect`).

Names are `i`, the reply's index from 0; fields of the request; values of the reply's enum; `true`
and `false`; and `sum(a)` adds a field up over all requests of the call. Arithmetic is modulo 2^64,
and truncated to the width of the reply's field.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from arena.what.protos import is_number

if TYPE_CHECKING:
    from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor
    from google.protobuf.message import Message

_NAME = re.compile(r"(?<!\w)[A-Za-z_]\w*")
_MASK_64, _MASK_32 = (1 << 64) - 1, (1 << 32) - 1
_CONSTANTS = {"true": 1, "false": 0}

_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


def problems_of(rule: str, method: "MethodDescriptor") -> Iterator[str]:
    """Yield what is wrong with a rule of the form `field = expression`, as sentences."""
    name, _, expression = rule.partition(" = ")
    field = _field(method.output_type, name)
    if field is None or not is_number(field):
        what = "the reply has no" if field is None else "a rule cannot compare"
        known = " or ".join(f"`{each} = …`" for each in _numbers(method.output_type))
        yield f"{what} `{name}`: {f'write {known}' if known else 'it has no number'}"
        return
    try:
        tree = _tree(expression)
    except SyntaxError:
        yield f"`{expression}` is not a sum or a product of numbers and names"
        return
    has = " and ".join(_numbers(method.input_type)) or "no number"
    for used, is_summed in sorted(_names(tree)):
        found = _field(method.input_type, used)
        if (found and is_number(found)) or (not is_summed and used in _words(field)):
            continue
        yield f"there is no `{used}`: the request has {has}"


def wrong(rule: str, request: "Message", requests: int, reply: "Message", i: int) -> str:
    """Return how reply `i` breaks a valid rule, as text; empty if it does not.

    The call has sent the request `requests` times.
    """
    name, _, expression = rule.partition(" = ")
    field = _field(reply.DESCRIPTOR, name)
    if field is None:
        raise ValueError(f"the reply has no `{name}`")
    words = _words(field) | {"i": i}

    def value(node: ast.expr) -> int:
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.UnaryOp(operand=operand):
                return -value(operand)
            case ast.BinOp(left=left, op=op, right=right):
                return _OPERATORS[type(op)](value(left), value(right)) & _MASK_64
            case ast.Call(args=[ast.Name(id=summed)]):
                return requests * _number(request, summed[1:])
            case ast.Name(id="_i"):
                return i
            case ast.Name(id=used):
                known = _field(request.DESCRIPTOR, used[1:])
                return words[used[1:]] if known is None else _number(request, used[1:])
        raise ValueError(f"`{expression}` is not a rule")

    wanted, found = value(_tree(expression)), _number(reply, name)
    if field.cpp_type == field.CPPTYPE_BOOL:
        is_right = bool(found) == bool(wanted & _MASK_64)
    else:
        wide = {field.CPPTYPE_INT64, field.CPPTYPE_UINT64}
        mask = _MASK_64 if field.cpp_type in wide else _MASK_32
        is_right = (found & mask) == (wanted & mask)
    return "" if is_right else f"its {name} is {found}, and the rule is `{rule}`"


def _tree(expression: str) -> ast.expr:
    """Return an expression's tree, with `_` before each name; SyntaxError for any other text."""
    # Python's keywords are good names of fields.
    tree = ast.parse(_NAME.sub(r"_\g<0>", expression), mode="eval").body
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=int()) | ast.Name() | ast.Load() | ast.USub() | ast.BinOp():
                continue
            case ast.Add() | ast.Sub() | ast.Mult() | ast.UnaryOp(op=ast.USub()):
                continue
            case ast.Call(func=ast.Name(id="_sum"), args=[ast.Name()], keywords=[]):
                continue
        raise SyntaxError(expression)
    return tree


def _names(tree: ast.expr) -> set[tuple[str, bool]]:
    """Return the names in an expression, and whether each is summed."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    summed = {id(each) for call in calls for each in call.args}
    functions = {id(call.func) for call in calls}
    return {
        (node.id[1:], id(node) in summed)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and id(node) not in functions
    }


def _words(field: "FieldDescriptor") -> dict[str, int]:
    """Return the names that mean a number beside the fields of the request."""
    values = field.enum_type.values_by_name if field.enum_type else {}
    return {"i": 0, **_CONSTANTS, **{name: each.number for name, each in values.items()}}


def _field(message: Any, name: str) -> "FieldDescriptor | None":
    found: FieldDescriptor | None = message.fields_by_name.get(name)
    return found or message.fields_by_camelcase_name.get(name)


def _numbers(message: Any) -> list[str]:
    return sorted(name for name, field in message.fields_by_name.items() if is_number(field))


def _number(message: "Message", name: str) -> int:
    field = _field(message.DESCRIPTOR, name)
    return int(getattr(message, field.name)) if field else 0
