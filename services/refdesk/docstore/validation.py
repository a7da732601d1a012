"""What a request must be before an engine sees it; pure, knows nothing of what is stored."""

from __future__ import annotations

import re
from collections.abc import Sized

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.errors import InvalidArgument
from refdesk.projects import SLUG

MAX_ITEMS = 1024
MAX_PATH_CHARACTERS = 4096
MAX_MENU_BYTES, MAX_MENU_NODES, MAX_MENU_LEVELS = 2 * 1024 * 1024, 20_000, 20
MAX_PREVIOUS = 5

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def require(value: str, name: str) -> str:
    """The value.

    Raises: InvalidArgument where it is empty.
    """
    if not value:
        raise InvalidArgument(f"{name} is empty; name one")
    return value


def check_count(items: Sized, name: str, *, least: int = 0, most: int = MAX_ITEMS) -> None:
    """Raises: InvalidArgument for fewer or more items than a call may have."""
    if len(items) < least:
        raise InvalidArgument(f"{name} is empty; send at least {least}")
    if len(items) > most:
        raise InvalidArgument(f"{name} has {len(items)} items; send at most {most} a call")


def choose_limit(asked: int, name: str, *, default: int, most: int) -> int:
    """The limit that was asked, the default for 0.

    Raises: InvalidArgument for more than `most`.
    """
    if asked > most:
        raise InvalidArgument(f"{name} is {asked}; ask for at most {most}")
    return asked or default


def check_put(item: pb.PutDocumentsItem, max_text_characters: int) -> None:
    """Raises: InvalidArgument for a record that could not be read back as it claims to be, or of a revision that does not follow."""
    document = item.document
    check_record(document, max_text_characters)
    if item.expected_revision < 0 or document.revision != item.expected_revision + 1:
        raise InvalidArgument(
            f"revision of {document.path} is {document.revision}; "
            f"it must be the expected one ({item.expected_revision}) plus 1"
        )


def check_record(document: pb.Document, max_text_characters: int) -> None:
    """Raises: InvalidArgument for a record that could not be read back as it claims to be."""
    for name in ("document_id", "project", "source", "path"):
        require(getattr(document, name), f"{name} of a record")
    if not _ID.fullmatch(document.document_id):
        raise InvalidArgument(f"document_id {document.document_id!r} is not a lowercase UUID")
    path = document.path
    if not path.startswith(f"{document.source}/") or "\0" in path or len(path) > MAX_PATH_CHARACTERS:
        raise InvalidArgument(
            f"path {path[:200]!r} must begin with its source {document.source!r} and a slash and have at most "
            f"{MAX_PATH_CHARACTERS} characters"
        )
    if max(len(document.previous_paths), len(document.previous_content_hashes)) > MAX_PREVIOUS:
        raise InvalidArgument(f"{path} has more than {MAX_PREVIOUS} previous paths or content hashes; keep the newest")
    _check_content(document, max_text_characters)


def _check_content(document: pb.Document, max_text_characters: int) -> None:
    text_length = len(document.text)
    if text_length > max_text_characters:
        raise InvalidArgument(f"text of {document.path} has {text_length} characters; at most {max_text_characters}")
    generations = [head.generation for head in document.heads]
    if "" in generations or len(set(generations)) < len(generations):
        raise InvalidArgument(f"heads of {document.path} must each name a generation of their own")
    for head in document.heads:
        _check_head(document, head, text_length)
    for section in document.sections:
        if not section.start <= section.end <= text_length:
            raise InvalidArgument(f"a section of {document.path} does not stand within its text")


def _check_head(document: pb.Document, head: pb.Head, text_length: int) -> None:
    if document.deleted and head.chunks:
        raise InvalidArgument(f"{document.path} is deleted, so its heads must list no chunk")
    listed = set[str]()
    for span in head.chunks:
        # A record that was read without its text and put back would be caught here.
        if not span.start <= span.end <= text_length:
            raise InvalidArgument(
                f"a chunk of {document.path} does not stand within its text; put the record with its text"
            )
        if not _ID.fullmatch(span.chunk_id):
            raise InvalidArgument(f"chunk_id {span.chunk_id!r} of {document.path} is not a lowercase UUID")
        listed.add(span.chunk_id)
    if len(listed) < len(head.chunks):
        raise InvalidArgument(f"a head of {document.path} lists a chunk twice")
    if not listed.issuperset(head.missing_vectors):
        raise InvalidArgument(f"a head of {document.path} misses vectors of chunks that it does not list")


def check_note(note: pb.NoteDocumentsItem) -> None:
    """Raises: InvalidArgument for a note that names nothing or whose token counts do not fit."""
    for name in ("document_id", "project", "generation"):
        require(getattr(note, name), f"{name} of a note")
    if note.token_counts and len(note.token_counts) != len(note.embedded_chunk_ids):
        raise InvalidArgument(
            f"note has {len(note.token_counts)} token_counts for {len(note.embedded_chunk_ids)} chunks; send one each or none"
        )


def check_id_query(query: pb.IdQuery) -> None:
    """Raises: InvalidArgument for a query that does not say of what its prefix is one."""
    if query.kind not in pb.IdKind.values() or query.kind == pb.ID_KIND_UNSPECIFIED:
        raise InvalidArgument(
            f"query of {query.prefix[:80]!r} has no known kind; say whether it is a document, section or content"
        )


def check_report(source: str, report: pb.Report) -> None:
    """Raises: InvalidArgument for a report of no path of the source, or of no kind."""
    if report.path != source and not report.path.startswith(f"{source}/"):
        raise InvalidArgument(f"report of {report.path[:200]!r} must be of {source} or a path in it")
    if report.kind not in pb.ReportKind.values() or report.kind == pb.REPORT_KIND_UNSPECIFIED:
        raise InvalidArgument(f"report of {report.path[:200]!r} has no known kind; say why it is not indexed")


def check_menu(menu: pb.Menu) -> None:
    """Raises: InvalidArgument for a menu that is too large to be read in one go, or nested too deep."""
    if menu.ByteSize() > MAX_MENU_BYTES:
        raise InvalidArgument(f"menu has {menu.ByteSize():,} bytes; at most {MAX_MENU_BYTES:,}")
    waiting, count = [(node, 1) for node in menu.nodes], 0
    while waiting:
        node, level = waiting.pop()
        count += 1
        if count > MAX_MENU_NODES or level > MAX_MENU_LEVELS:
            raise InvalidArgument(f"menu has more than {MAX_MENU_NODES} nodes or {MAX_MENU_LEVELS} levels")
        waiting += [(child, level + 1) for child in node.children]


def check_project(project: pb.Project, expected_revision: int) -> None:
    """Raises: InvalidArgument for a bad slug, or a project that could not answer."""
    if not re.fullmatch(SLUG, project.slug):
        raise InvalidArgument(f"project slug {project.slug[:80]!r} must be a-z, 0-9 and hyphen, 1 to 63 characters")
    if expected_revision < 0:
        raise InvalidArgument("expected_revision must not be negative")
    if project.live_generation not in project.followed_generations or not project.live_generation:
        raise InvalidArgument(f"project {project.slug} must follow its live generation; name it in both fields")
    also = [project.building_generation, *(one.generation for one in project.rollback_generations)]
    for generation in filter(None, also):
        if generation not in project.followed_generations or generation == project.live_generation:
            raise InvalidArgument(f"project {project.slug} must follow generation {generation} beside its live one")
    names = [source.name for source in project.sources]
    if len(set(names)) < len(names) or not all(names):
        raise InvalidArgument(f"sources of project {project.slug} must each have a name of their own")


def check_key(key: pb.AccessKey, expected_revision: int) -> None:
    """Raises: InvalidArgument for a key that nobody could use, or that would open more than it should."""
    if not re.fullmatch(r"[0-9a-f]{12}", key.key_id):
        raise InvalidArgument("key_id must be 12 hex digits")
    if expected_revision < 0:
        raise InvalidArgument("expected_revision must not be negative")
    if key.scope not in pb.KeyScope.values() or key.scope == pb.KEY_SCOPE_UNSPECIFIED:
        raise InvalidArgument(f"key {key.key_id} has no known scope; valid: read, publish, admin")
    if (key.scope == pb.KEY_SCOPE_ADMIN) == bool(re.fullmatch(SLUG, key.project)):
        raise InvalidArgument(f"key {key.key_id} must name one project, and none where its scope is admin")
    if not 1 <= len(key.secrets) <= 2 or any(len(secret.sha256) != 32 for secret in key.secrets):
        raise InvalidArgument(f"key {key.key_id} must have 1 or 2 secrets of 32 bytes")
