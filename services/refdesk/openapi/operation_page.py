"""Shows one operation as a Markdown page whose headings chunk well; pure, and knows nothing of sources or paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from refdesk.openapi.prose import fenced, nest
from refdesk.openapi.schema_lines import SchemaLines, code
from refdesk.openapi.spec import Operation, Spec, as_list, as_mapping, one_line

DESCRIPTION_CHARACTERS = 20_000
MAX_PARAMETERS = 200
MAX_RESPONSES = 60
MAX_MEDIA_TYPES = 12
MAX_EXAMPLES = 2
BODY = ("body", "formData")
"""Places of parameters that version 2.0 has for what later ones call the request body."""


def show_operation(spec: Spec, operation: Operation) -> str:
    """The page's text."""
    return "\n\n".join(block for block in _Page(spec, operation).blocks() if block) + "\n"


class _Page:
    def __init__(self, spec: Spec, operation: Operation) -> None:
        self._spec = spec
        self._operation = operation
        self._references = spec.references
        self._schemas = SchemaLines(spec.references)
        self._parameters = spec.parameters(operation)[:MAX_PARAMETERS]

    def blocks(self) -> Iterator[str]:
        """The page in blocks that a blank line parts."""
        operation = self._operation
        yield f"# {operation.name}"
        yield operation.summary
        yield "**Deprecated.**" if operation.raw.get("deprecated") is True else ""
        said = nest(operation.raw.get("description") or operation.item.get("description"), 2, DESCRIPTION_CHARACTERS)
        yield said if said != operation.summary else ""
        yield "\n".join(self._facts())
        yield from self._show_parameters()
        yield from self._request()
        yield from self._responses()
        yield from self._callbacks()

    def _facts(self) -> Iterator[str]:
        spec, operation = self._spec, self._operation
        if operation.is_webhook:
            yield f"- Webhook: the API sends {code(operation.method.upper())} for {code(operation.path)}"
        else:
            yield from (f"- URL: {code(url.rstrip('/') + operation.path)}" for url in spec.servers(operation)[:5])
        if operation.operation_id:
            yield f"- Operation id: {code(operation.operation_id)}"
        if operation.tags:
            yield f"- Tags: {', '.join(operation.tags[:20])}"
        security = spec.security(operation)
        if security is not None:
            yield f"- Security: {' or '.join(map(_scheme, security[:10])) or 'none'}"
        more = as_mapping(operation.raw.get("externalDocs"))
        if one_line(more.get("url"), 500):
            yield f"- See also: {one_line(more.get('description'), 200)} {one_line(more.get('url'), 500)}"

    def _show_parameters(self) -> Iterator[str]:
        lines = []
        for parameter in self._parameters:
            if parameter.get("in") not in BODY:
                lines += self._parameter(parameter)
        if lines:
            yield "## Parameters"
            yield "\n".join(lines)

    def _parameter(self, parameter: Mapping[str, Any]) -> list[str]:
        name, place = one_line(parameter.get("name"), 200), one_line(parameter.get("in"), 20)
        notes = [place, "required" if parameter.get("required") is True else ""]
        notes += ["deprecated" if parameter.get("deprecated") is True else "", one_line(parameter.get("problem"), 300)]
        schema = parameter.get("schema")
        if schema is None:
            media = next(iter(as_mapping(parameter.get("content")).items()), None)
            schema = as_mapping(media[1]).get("schema", {}) if media else _inline_schema(parameter)
            notes.append(one_line(media[0], 100) if media else "")
        if "example" in parameter and isinstance(schema, dict):
            schema = {**schema, "example": parameter["example"]}
        noted = ", ".join(note for note in notes if note)
        return self._schemas.show_field(name, schema, noted, one_line(parameter.get("description"), 1_000))

    def _request(self) -> Iterator[str]:
        body = self._references.follow(self._operation.raw.get("requestBody"))
        old = [parameter for parameter in self._parameters if parameter.get("in") in BODY]
        if not as_mapping(body.value) and not old and not body.problem:
            return
        yield "## Request body"
        if old and self._spec.is_old:
            yield from self._old_request(old)
            return
        content = as_mapping(body.value)
        yield f"({body.problem})" if body.problem else ""
        yield "Required." if content.get("required") is True else ""
        yield nest(content.get("description"), 3, DESCRIPTION_CHARACTERS)
        yield from self._contents(content.get("content"), "###")

    def _old_request(self, parameters: list[Mapping[str, Any]]) -> Iterator[str]:
        consumes = self._operation.raw.get("consumes", self._spec.root.get("consumes"))
        yield _listed("Media types", consumes)
        lines: list[str] = []
        for parameter in parameters:
            if parameter.get("in") == "formData":
                lines += self._parameter(parameter)
                continue
            yield "Required." if parameter.get("required") is True else ""
            yield nest(parameter.get("description"), 3, DESCRIPTION_CHARACTERS)
            lines += self._schemas.show(parameter.get("schema", {}))
            example = self._schema_example(parameter.get("schema"))
            if example is not None:
                yield fenced(example)
        yield "\n".join(lines)

    def _responses(self) -> Iterator[str]:
        responses = as_mapping(self._operation.raw.get("responses"))
        if not responses:
            return
        yield "## Responses"
        for status, given in islice(responses.items(), MAX_RESPONSES):
            if status.startswith("x-"):
                continue
            target = self._references.follow(given)
            response = as_mapping(target.value)
            yield f"### {one_line(status, 20)}"
            yield f"({target.name}: {target.problem})" if target.problem else ""
            yield nest(response.get("description"), 3, DESCRIPTION_CHARACTERS)
            yield "\n".join(self._headers(response))
            if self._spec.is_old:
                yield from self._old_response(response)
            else:
                yield from self._contents(response.get("content"), "####")

    def _headers(self, response: Mapping[str, Any]) -> list[str]:
        lines: list[str] = []
        for name, given in islice(as_mapping(response.get("headers")).items(), 40):
            header = as_mapping(self._references.follow(given).value)
            schema = header.get("schema", _inline_schema(header))
            lines += self._schemas.show_field(name, schema, "header", one_line(header.get("description"), 1_000))
        return lines

    def _old_response(self, response: Mapping[str, Any]) -> Iterator[str]:
        if "schema" in response:
            yield _listed("Media types", self._operation.raw.get("produces", self._spec.root.get("produces")))
            yield "\n".join(self._schemas.show(response["schema"]))
        examples = as_mapping(response.get("examples"))
        for media, example in islice(examples.items(), MAX_EXAMPLES):
            yield f"Example ({one_line(media, 100)}):"
            yield fenced(example)
        example = self._schema_example(response.get("schema")) if not examples else None
        if example is not None:
            yield "Example:"
            yield fenced(example)

    def _contents(self, content: Any, mark: str) -> Iterator[str]:
        for name, given in islice(as_mapping(content).items(), MAX_MEDIA_TYPES):
            media = as_mapping(self._references.follow(given).value)
            yield f"{mark} {one_line(name, 100)}"
            if "schema" in media:
                yield "\n".join(self._schemas.show(media["schema"]))
            yield from self._examples(media)

    def _examples(self, media: Mapping[str, Any]) -> Iterator[str]:
        if "example" in media:
            yield "Example:"
            yield fenced(media["example"])
            return
        named = as_mapping(media.get("examples"))
        for name, given in islice(named.items(), MAX_EXAMPLES):
            target = self._references.follow(given)
            one = as_mapping(target.value)
            yield f"Example ({one_line(one.get('summary'), 200) or one_line(name, 100)}):"
            if "value" in one:
                yield fenced(one["value"])
            else:
                yield target.problem or f"It is kept at {code(one_line(one.get('externalValue'), 500))}."
        example = self._schema_example(media.get("schema")) if not named else None
        if example is not None:
            yield "Example:"
            yield fenced(example)

    def _schema_example(self, schema: Any) -> Any:
        """An object or array that the schema itself gives as its example; plain values stand in its lines already."""
        inner = as_mapping(self._references.follow(schema).value)
        found = inner.get("example", next(iter(as_list(inner.get("examples"))), None))
        return found if isinstance(found, (dict, list)) else None

    def _callbacks(self) -> Iterator[str]:
        callbacks = as_mapping(self._operation.raw.get("callbacks"))
        if not callbacks:
            return
        yield "## Callbacks"
        lines = []
        for name, given in islice(callbacks.items(), 40):
            for address, item in islice(as_mapping(self._references.follow(given).value).items(), 10):
                for method, one in as_mapping(self._references.follow(item).value).items():
                    if isinstance(one, dict) and method.isalpha():
                        about = one_line(one.get("summary") or one.get("description"), 300)
                        lines.append(f"- {code(name)}: {method.upper()[:20]} {code(address)} {about}".rstrip())
        yield "\n".join(lines)


def _inline_schema(parameter: Mapping[str, Any]) -> dict[str, Any]:
    """What version 2.0 says of a parameter's type beside its name."""
    left = ("name", "in", "required", "description", "allowEmptyValue", "collectionFormat", "problem", "deprecated")
    return {key: value for key, value in parameter.items() if key not in left}


def _scheme(alternative: Mapping[str, Any]) -> str:
    if not alternative:
        return "none"
    parts = []
    for name, scopes in islice(alternative.items(), 10):
        listed = ", ".join(one_line(scope, 100) for scope in as_list(scopes)[:30])
        parts.append(code(name) + (f" ({listed})" if listed else ""))
    return " and ".join(parts)


def _listed(label: str, values: Any) -> str:
    shown = ", ".join(code(one_line(one, 100)) for one in as_list(values)[:20])
    return f"{label}: {shown}" if shown else ""
