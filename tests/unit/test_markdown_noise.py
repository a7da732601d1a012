import pytest

from refdesk.ingest.formats.markdown import parse


def text_of(page):
    return parse(page, "page.md").text


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("one<br>two", "one two"),
        ("| a<br/>b | c |\n|---|---|\n| d | e |", "| a b | c |\n|---|---|\n| d | e |"),
        ('<a name="x"></a>text', "text"),
        ('see <a href="x.html">the page</a>.', "see the page."),
        ("a <b>bold</b> and <em>thin</em> word", "a bold and thin word"),
        ("H<sub>2</sub>O", "H2O"),
        ("use <code>x</code>", "use x"),
        ('<img src="x.png" alt="A diagram">', "A diagram"),
        ('<img src="x.png">\n\ntext', "text"),
        ('<img\n  src="x.png"\n  alt="A diagram"\n/>', "A diagram"),
        ('<div class="x">\n\ntext\n\n</div>', "text"),
        ("<details>\n<summary>More</summary>\n\ntext\n\n</details>", "More\n\ntext"),
        ("<h2>Title</h2>", "## Title"),
        ("<table>\n  <tr>\n    <td>cell</td>\n  </tr>\n</table>", "cell"),
        ("<p align='center'>\ntext\n</p>", "text"),
    ],
)
def test_html_leaves_its_text(page, expected):
    assert text_of(page) == expected


@pytest.mark.parametrize(
    "page",
    [
        "use <index-name> and <YOUR_TOKEN> here",
        "the <path> of a file",
        "a List<String> of them",
        "`<br>` breaks a line and ``<b> ` `` too",
        "see <https://example.com/x>",
        "a < b and c > d",
        "\\<br> escaped",
        "```html\n<br>\n<!-- kept -->\n```",
        "~~~\n{% include x %}\n{: .note}\nimport X from 'y'\n~~~",
        "text\n\n    <br> in indented code\n    <!-- kept -->",
        "| `<b>` | {x} |\n|---|---|",
        "a template {{ .Values.name }} stays",
        "a map {:key value} stays",
        "import the contents of a template\nexport all of it",
        "export HELM_DRIVER=sql",
        "a line\nexport const x = 1",
        "ratio 3:::4",
    ],
)
def test_what_is_no_noise_stays_as_it_is(page):
    assert text_of(page) == page


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<!-- a -->text", "text"),
        ("one <!-- a --> two", "one  two"),
        ("one\n<!-- a -->\ntwo", "one\n\ntwo"),
        ("one <!-- a\nb\nc --> two", "one\ntwo"),
        ("one\n\n<!-- a\n\n# b -->\n\ntwo", "one\n\n\ntwo"),
        ("<!-- a --><!-- b -->text<!-- c -->", "text"),
        ("<!-- a\nb --> one <!-- c\nd --> two", "one\ntwo"),
        ("<!-- a\nb --># H", "# H"),
        ("<script>\nvar a = 1;\n</script>\ntext", "text"),
        ("<style>b { c: d }</style>text", "text"),
    ],
)
def test_comments_and_scripts_go(page, expected):
    assert text_of(page) == expected


def test_a_comment_that_never_closes_hides_the_rest_and_is_reported():
    document = parse("text\n\n<!-- open\n\n# H\n", "page.md")
    assert document.text == "text"
    assert document.warnings == ("line 3: a comment or script is never closed and hides the rest of the page",)


def test_an_open_comment_sign_inside_a_sentence_hides_nothing():
    assert text_of("a <!-- sign\n\n# H") == "a <!-- sign\n\n# H"


def test_preformatted_text_becomes_a_fence_longer_than_any_in_it():
    assert text_of("<pre>\n# not a heading\n```\n</pre>\nafter") == "````\n# not a heading\n```\n````\nafter"
    assert text_of("before\n\n<pre><code>\n  a &lt; b\n</code></pre>") == "before\n\n```\n  a &lt; b\n```"
    assert text_of("<pre>one line</pre>") == "one line"


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("import Tabs from '@theme/Tabs';\n\ntext", "text"),
        ('import "./style.css"\n\ntext', "text"),
        ("import {\n  a,\n  b,\n} from './x';\n\ntext", "text"),
        ("export const x = {\n  a: 1,\n};\n\ntext", "text"),
        ("{/* a comment */}\n\ntext", "text"),
        ("{/* a\ncomment */}\n\ntext", "text"),
        ("<DocCardList />\n\ntext", "text"),
        ("Version <GetVersion /> is out", "Version  is out"),
        ("<Tabs>\n<TabItem value='go' label='Go'>\n\ntext\n\n</TabItem>\n</Tabs>", "Go\n\ntext"),
        (":::note\nMind the gap.\n:::", "**Note**\n\nMind the gap."),
        (":::warning Breaking change\nMind.\n:::", "**Warning: Breaking change**\n\nMind."),
        (":::tip[Faster]\nMind.\n:::", "**Tip: Faster**\n\nMind."),
    ],
)
def test_mdx_leaves_what_a_reader_sees(page, expected):
    assert text_of(page) == expected


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("```json\n{}\n```\n{% include copy.html %}\n\ntext", "```json\n{}\n```\n\n\ntext"),
        ("{% capture x %}\ntext\n{% endcapture %}", "text"),
        ("{% comment %}\nhidden\n{% endcomment %}\ntext", "text"),
        ("a {% if x %}b{% endif %} c", "a b c"),
        ("[x]({{site.url}}{{ site.baseurl }}/y/)", "[x](/y/)"),
        ("Mind the gap.\n{: .note}\n\ntext", "Mind the gap.\n\n\ntext"),
        ("{:.no_toc}\n# H", "# H"),
        ("1. TOC\n{:toc}\n\n# H", "# H"),
        ('[x](y){:target="_blank"} z', "[x](y) z"),
        ("a {::nomarkdown}<img src='x'>{:/} b", "a  b"),
    ],
)
def test_liquid_and_kramdown_marks_go(page, expected):
    assert text_of(page) == expected


def test_noise_inside_a_list_keeps_the_lists_indentation():
    page = "1. one\n\n   <b>bold</b>\n   {: .note}\n\n   ```\n   <br>\n   ```\n2. two"
    assert text_of(page) == "1. one\n\n   bold\n\n\n   ```\n   <br>\n   ```\n2. two"
