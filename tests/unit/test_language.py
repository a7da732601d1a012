import subprocess
import sys

import pytest

from refdesk.language import UNDETERMINED, detect, language_code, query_language, script, strip_code

ENGLISH = (
    "The signing key is kept for a day, so that tokens which are signed with it can be verified by all of them. " * 3
)
GERMAN = "Der Schlüssel wird einen Tag lang aufbewahrt, damit alle ausgestellten Token noch geprüft werden können. " * 3
FRENCH = (
    "La clé est conservée pendant une journée afin que tous les jetons déjà signés puissent encore être vérifiés. " * 3
)
TURKISH = (
    "İmza anahtarı bir gün boyunca saklanır, böylece onunla imzalanan bütün belirteçler doğrulanabilir kalır. " * 3
)
JAPANESE = "署名鍵は一日のあいだ保管されるので、それで署名されたトークンはすべて検証できます。" * 8
CHINESE = "签名密钥会保留一天，因此用它签名的所有令牌仍然可以得到验证。" * 10


@pytest.mark.parametrize(
    ("text", "expected"),
    [(ENGLISH, "en"), (GERMAN, "de"), (FRENCH, "fr"), (TURKISH, "tr"), (JAPANESE, "ja"), (CHINESE, "zh")],
)
def test_prose_is_told_by_its_language(text, expected):
    assert detect(text, None, "nl") == expected


@pytest.mark.parametrize("declared", ["de", "DE", "de-AT", "de_DE.UTF-8"])
def test_what_is_declared_goes_before_what_is_written(declared):
    assert detect(ENGLISH, declared, "fr") == "de"


def test_a_declaration_that_is_no_code_is_not_believed():
    assert detect(ENGLISH, "deutsch", "fr") == "en"


def test_a_short_text_takes_its_sources_language():
    assert detect("Kurzer Text.", None, "fr") == "fr"
    assert detect("Short text.", None, None) == UNDETERMINED
    assert detect("", "", "") == UNDETERMINED


def test_a_short_text_in_a_script_of_one_language_needs_no_source():
    assert detect("署名鍵を回します。", None, None) == "ja"


def test_code_does_not_count_as_prose():
    assert detect(f"```python\n{ENGLISH}\n```\n\n`{ENGLISH}`\n\nKurz.", None, "de") == "de"
    assert detect(f"{GERMAN}\n\n```\n{ENGLISH * 3}\n```\n", None, None) == "de"
    assert strip_code("a\n~~~\ncode\n~~~\nb `c` [d](https://e) <f> **g**") == "a b d g"
    assert strip_code("a\n```\nnever closed") == "a"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rotate keys", "latin"),
        ("schlüssel drehen", "latin"),
        ("鍵を回す", "kana"),
        ("Helm の インストール", "kana"),
        ("安装 Helm", "han"),
        ("키 교체", "hangul"),
        ("сменить ключ", "cyrillic"),
        ("تدوير المفتاح", "arabic"),
        ("αλλαγή κλειδιού", "greek"),
        ("HALYARD_DISPATCH_TIMEOUT の値", "kana"),
        ("404", ""),
        ("", ""),
    ],
)
def test_a_texts_script_is_that_of_most_of_its_letters(text, expected):
    assert script(text) == expected


def test_a_querys_language_is_told_only_where_its_script_tells():
    assert query_language("鍵を回す") == "ja"
    assert query_language("安装") == "zh"
    assert query_language("키 교체") == "ko"
    assert query_language("rotate keys") == UNDETERMINED
    assert query_language("сменить ключ") == UNDETERMINED


def test_language_codes_are_two_letters():
    assert [language_code(stated) for stated in ("en", " EN-gb ", "english", "eng", "", None)] == [
        "en",
        "en",
        "",
        "",
        "",
        "",
    ]


def test_english_and_japanese_are_told_without_loading_the_detector():
    program = (
        "import sys; from refdesk.language import detect; "
        f"assert detect({ENGLISH!r}, None, None) == 'en'; assert detect({JAPANESE!r}, None, None) == 'ja'; "
        "assert 'py3langid' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
