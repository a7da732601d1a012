import json
import uuid

from hypothesis import given
from hypothesis import strategies as st

from refdesk import ids

LABEL = st.text(max_size=8)


def test_document_id_is_a_version_5_uuid_and_stays_what_it_is():
    assert ids.document_id("handbook", "runbooks", "keys.md") == str(
        uuid.uuid5(ids.DOCUMENT_NAMESPACE, '["handbook","runbooks","keys.md"]')
    )
    assert uuid.UUID(ids.document_id("handbook", "runbooks", "keys.md")).version == 5


def test_namespaces_are_the_ones_that_stored_data_was_named_with():
    assert str(ids.NAMESPACE) == "6f1c3a52-8f0e-5d0b-9a53-3f7f6f0c2b11"
    assert uuid.uuid5(ids.NAMESPACE, "document") == ids.DOCUMENT_NAMESPACE
    assert uuid.uuid5(ids.NAMESPACE, "section") == ids.SECTION_NAMESPACE
    assert uuid.uuid5(ids.NAMESPACE, "chunk") == ids.CHUNK_NAMESPACE


@given(st.tuples(LABEL, LABEL, LABEL), st.tuples(LABEL, LABEL, LABEL))
def test_two_documents_share_an_id_only_if_project_source_and_path_are_equal(first, second):
    assert (ids.document_id(*first) == ids.document_id(*second)) == (first == second)


@given(st.lists(LABEL, max_size=3), st.lists(LABEL, max_size=3), st.integers(0, 3), st.integers(0, 3))
def test_two_sections_share_an_id_only_if_breadcrumb_and_ordinal_are_equal(first, second, one, other):
    same = (first, one) == (second, other)
    assert (ids.section_id("d", first, one) == ids.section_id("d", second, other)) == same


CHUNK_PARTS = st.tuples(
    LABEL, LABEL, st.builds(ids.Facets, LABEL, LABEL, LABEL), st.lists(LABEL, max_size=3), LABEL, st.integers(0, 3)
)


def chunk_id(generation, document, facets, breadcrumb, text, ordinal):
    return ids.ChunkNames(generation, document, facets).chunk_id(breadcrumb, text, ordinal)


@given(CHUNK_PARTS, CHUNK_PARTS)
def test_two_chunks_share_an_id_only_if_all_that_names_them_is_equal(first, second):
    assert (chunk_id(*first) == chunk_id(*second)) == (first == second)


@given(CHUNK_PARTS)
def test_a_chunk_id_is_the_version_5_uuid_of_the_json_of_its_parts(parts):
    generation, document, facets, breadcrumb, text, ordinal = parts
    labels = [facets.version, facets.kind, facets.language]
    name = json.dumps([generation, document, labels, breadcrumb, text, ordinal], separators=(",", ":"))
    assert chunk_id(*parts) == str(uuid.uuid5(ids.CHUNK_NAMESPACE, name))


def test_what_chunks_have_in_common_does_not_make_one_forget_the_other():
    names = ids.ChunkNames("g", "d", ids.Facets())
    first = names.chunk_id(["A"], "text", 0)
    assert names.chunk_id(["A"], "text", 1) != first
    assert names.chunk_id(["A"], "text", 0) == first


def test_separators_inside_a_part_do_not_make_two_documents_one():
    assert ids.document_id("a", "b/c", "d") != ids.document_id("a", "b", "c/d")
    assert ids.document_id('a","b', "c", "d") != ids.document_id("a", 'b","c', "d")
    assert ids.section_id("d", ["a > b"], 0) != ids.section_id("d", ["a", "b"], 0)


def test_each_facet_changes_a_chunks_id():
    names = {
        chunk_id("g", "d", facets, ["A"], "text", 0)
        for facets in (ids.Facets(), ids.Facets("v3"), ids.Facets(kind="v3"), ids.Facets(language="v3"))
    }
    assert len(names) == 4


def test_content_hash_is_sha_256_and_docid_its_first_six_digits():
    # The digest of "abc" from FIPS 180-2, appendix B.1.
    digest = ids.content_hash("abc")
    assert digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert ids.docid(digest) == "#ba7816"


def test_short_id_is_the_first_eight_digits():
    assert ids.short_id("3f2a9c1e-0000-5000-8000-000000000000") == "3f2a9c1e"
