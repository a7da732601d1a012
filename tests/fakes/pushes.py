"""Statements of publishers as docstore takes them, and a source that they go to."""

from __future__ import annotations

from refdesk.api.docstore.v1 import docstore_pb2 as pb

PROJECT, SOURCE = "handbook", "wiki"


def content(
    path: str, revision: int, text: str = "", *, id: str = "", source: str = SOURCE, **facts: str
) -> pb.PutRawDocumentsItem:
    """A document exists and reads like this."""
    stated = pb.RawContent(path=path, content=(text or f"# {path} {revision}\n").encode(), facts=pb.RawFacts(**facts))
    return pb.PutRawDocumentsItem(source=source, event_id=id or f"{path} {revision}", revision=revision, content=stated)


def deletion(path: str, revision: int, *, id: str = "", source: str = SOURCE) -> pb.PutRawDocumentsItem:
    """A document is gone."""
    return pb.PutRawDocumentsItem(
        source=source, event_id=id or f"{path} {revision}", revision=revision, deletion=pb.RawDeletion(path=path)
    )


def listing(revision: int, *paths: str, id: str = "", **least: int) -> pb.PutRawDocumentsItem:
    """These documents exist, and no others; `least` maps paths (with _ for a dot) to the least revision of their content."""
    documents = [pb.RawListed(path=path) for path in paths]
    documents += [pb.RawListed(path=path.replace("_", "."), revision=one) for path, one in least.items()]
    return pb.PutRawDocumentsItem(
        source=SOURCE,
        event_id=id or f"listing {revision}",
        revision=revision,
        listing=pb.RawListing(documents=documents),
    )


def project(slug: str = PROJECT) -> pb.Project:
    """A project with a source that takes pushes and one that takes none."""
    return pb.Project(
        slug=slug,
        model_id="made",
        live_generation="made.c1",
        followed_generations=["made.c1"],
        sources=[pb.Source(name=SOURCE, kind="push"), pb.Source(name="docs", kind="folder", location="/docs")],
    )
