"""The memory settings edit `constitution/MANIFEST.yaml` itself, and never a byte more of it than what was changed."""

from __future__ import annotations

import re
import stat
from typing import TYPE_CHECKING

import pytest

from omnislash.brain.settings import SettingKind, settings_table
from tests.integration.dashboard_settings.conftest import fields_of

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain
    from tests.integration.dashboard_settings.conftest import Pages

FILE = "constitution/MANIFEST.yaml"
#: Four columns of indentation, both kinds of quotes, a list in lines, a comment in every place, no order of ours.
TEXT = """\
# What our brain wants otherwise.
locale:
    timezone: "Europe/Berlin"    # where the office is

memory:
    # A turn shows few notes.
    recallResults: 2   # two are enough
    read:
        - 'ops'    # the backroom
        - home
    lines:
        main: {fileMaxChars: 4000}
    consolidation:
        lines:
            main:
                periods: [week, month]
        modelRef: offline
loop:
    somebody: [elses, "settings"]
# the end"""


@pytest.fixture
def spelled(sample: SampleBrain) -> SampleBrain:
    """A brain with lines that the manifest may name, and a manifest that is spelled in its own way."""
    for line in ("ops", "home", "main"):
        sample.put_memory(f"{line}/MEMORY.md", "# Memory\n")
    sample.put(FILE, TEXT)
    return sample


def saved(sample: SampleBrain) -> str:
    """Return the manifest as it is."""
    return (sample.root / FILE).read_bytes().decode()


def settings(pages: Pages) -> dict[str, object]:
    """Return what each field of the form holds."""
    groups = pages.json("/settings")["groups"]
    found: dict[str, object] = {}
    for setting in (each for group in groups for each in group["settings"]):
        rows = setting.get("rows", [])
        fields = [setting] if "name" in setting else [field for row in rows for field in row["fields"]]
        found |= {field["name"]: field["value"] for field in fields}
    return found


@pytest.mark.rule("DASH-07")
def test_every_setting_of_the_manifest_has_its_field(pages: Pages) -> None:
    """Each key of the table of settings stands in the form once, with its default, unit and sentence."""
    groups = pages.json("/settings")["groups"]
    shown = [setting for group in groups for setting in group["settings"]]
    columns = [field for setting in shown if "blank" in setting for field in setting["blank"]["fields"]]
    rows = {row.key: row for row in settings_table() if row.file == FILE}
    found = {each["key"]: each for each in (*shown, *columns)}

    assert len(found) == len(shown) + len(columns)
    assert set(found) == {key for key, row in rows.items() if row.kind not in {SettingKind.BLOCK, SettingKind.FREE}}
    for key, each in found.items():
        assert (each["default"], each["unit"], each["help"]) == (rows[key].default, rows[key].unit, rows[key].help)


@pytest.mark.rule("DASH-07")
def test_the_form_shows_what_the_file_says(spelled: SampleBrain, pages: Pages) -> None:
    """Each field holds the value of the file, an empty one stands for the default, and the text is there as it is."""
    held = settings(pages)
    html = pages.html("/settings")

    assert held["memory.recallResults"] == "2"
    assert held["memory.read"] == ["ops", "home"]
    assert held["memory.recallScore"] == ""
    assert held["locale.timezone"] == "Europe/Berlin"
    assert held["memory.lines.main.fileMaxChars"] == "4000"
    assert held["memory.consolidation.lines.main.periods"] == ["week", "month"]
    assert "Default: 0.41 (score)." in html
    assert "Default: 10000 characters (UTF-16 units)." in html
    assert "Default: none." in html
    assert "Default: []" not in html
    hint = re.search(r'id="setting-\d+-hint">Budget of a line(.*?)</p>', html, re.DOTALL)
    assert hint is not None
    assert 'A line\'s own value wins: <span dir="auto">main</span> has 4000.' in hint[1]
    assert fields_of(html, "/settings/text")["text"].replace("\r\n", "\n") == TEXT


@pytest.mark.rule("DASH-07", "DASH-O2", "KNOB-26")
def test_a_changed_key_is_all_that_changes(spelled: SampleBrain, pages: Pages) -> None:
    """One number typed into the form is one number in the file, and counts at once for the next turn."""
    agent = pages.brain.agent("nova")
    fields = fields_of(pages.html("/settings"), "/settings") | {"memory.recallResults": "7"}

    page = pages.follow(pages.send("/settings", fields))

    assert "Saved in constitution/MANIFEST.yaml and in force." in page
    assert saved(spelled) == TEXT.replace("recallResults: 2", "recallResults: 7")
    assert agent.scope.settings.recall_results == 2  # a turn that has begun keeps what it began with
    assert pages.brain.agent("nova").scope.settings.recall_results == 7


@pytest.mark.rule("DASH-O2")
def test_many_changes_leave_every_other_line(spelled: SampleBrain, pages: Pages) -> None:
    """Values, lists, rows, new keys and removed ones: each takes its own lines, in the file's own spelling."""
    fields = fields_of(pages.html("/settings"), "/settings") | {
        "memory.recallResults": "",
        "memory.read": "ops\r\nmain\r\n\r\nhome\r\n",
        "locale.timezone": "Asia/Tbilisi",
        "memory.lines.main.fileMaxChars": "",
        "memory.consolidation.lines.main.periods:year": "on",
        "memory.consolidation.schedule": "*/30 * * * *",
        "memory.flush.enabled": "false",
        "memory.lines+name": "home",
        "memory.lines+.fileMaxChars": "0",
    }

    pages.follow(pages.send("/settings", fields))

    assert (
        saved(spelled)
        == """\
# What our brain wants otherwise.
locale:
    timezone: "Asia/Tbilisi"    # where the office is

memory:
    # A turn shows few notes.
    read:
        - 'ops'    # the backroom
        - main
        - home
    lines:
        home:
            fileMaxChars: 0
    consolidation:
        lines:
            main:
                periods: [week, month, year]
        modelRef: offline
        schedule: '*/30 * * * *'
    flush:
        enabled: false
loop:
    somebody: [elses, "settings"]
# the end"""
    )
    manifest = pages.brain.config.manifest
    assert manifest.locale.timezone == "Asia/Tbilisi"
    assert manifest.memory.line_budgets == {"home": 0}
    assert manifest.memory.recall_results is None


@pytest.mark.rule("DASH-O2")
@pytest.mark.parametrize(
    ("typed", "key", "sentence"),
    [
        ({"memory.recallResults": "4,000"}, "memory.recallResults", "expected a whole number from 0"),
        ({"memory.recallScore": "41"}, "memory.recallScore", "41 is too large"),
        ({"memory.write": "*"}, "memory.write", "is not a line name"),
        ({"memory.recall": "ops\r\nnowhere/at all"}, "memory.recall", "nowhere/at all"),
        ({"locale.timezone": "Europe/Belin"}, "locale.timezone", "Europe/Berlin"),
        ({"memory.secrets": "perhaps"}, "memory.secrets", "one of refuse, allow"),
        ({"memory.lines+name": "No Name", "memory.lines+.fileMaxChars": "1"}, "memory.lines", "No Name"),
        ({"memory.lines+name": "ops"}, "memory.lines", "has no value"),
        ({"memory.lines+.fileMaxChars": "5"}, "memory.lines", "no name"),
        ({"memory.lines+name": "main", "memory.lines+.fileMaxChars": "5"}, "memory.lines", "has a row already"),
        (
            {"memory.consolidation.lines+name": "ops", "memory.consolidation.lines+.modelRef": "offline"},
            "memory.consolidation.lines",
            "The key is missing",
        ),
    ],
)
def test_what_would_not_load_is_not_saved(
    spelled: SampleBrain, pages: Pages, typed: dict[str, str], key: str, sentence: str
) -> None:
    """The fault stands beside its field, what was typed stays, and not a byte is written."""
    fields = fields_of(pages.html("/settings"), "/settings") | typed | {"memory.recallChars": "123"}
    before = (spelled.root / FILE).stat()

    answer = pages.send("/settings", fields)
    content = pages.send("/settings", fields, accept="application/json").json()

    assert answer.status_code == 422
    shown = next(each for group in content["groups"] for each in group["settings"] if each["key"] == key)
    assert any(sentence in f"{fault['message']} {fault['hint']}" for fault in shown["faults"])
    assert saved(spelled) == TEXT
    after = (spelled.root / FILE).stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)
    again = fields_of(answer.text, "/settings")
    assert {name: again[name].strip() for name in (*typed, "memory.recallChars")} == {
        **typed,
        "memory.recallChars": "123",
    }
    assert pages.brain.config.manifest.memory.recall_chars is None


def test_a_fault_names_its_line(spelled: SampleBrain, pages: Pages) -> None:
    """A text that would not load is refused with line and key, and stays in the field as it was typed."""
    fields = fields_of(pages.html("/settings"), "/settings/text")
    typed = TEXT.replace("recallResults: 2", "recalResults: 2")

    answer = pages.send("/settings/text", fields | {"text": typed.replace("\n", "\r\n")})
    content = pages.send("/settings/text", fields | {"text": typed}, accept="application/json").json()

    assert answer.status_code == 422
    assert [(fault["line"], fault["key"]) for fault in content["faults"]] == [(7, "memory.recalResults")]
    assert content["typedText"] == typed
    assert "recallResults" in content["faults"][0]["hint"]
    assert fields_of(answer.text, "/settings/text")["text"].replace("\r\n", "\n") == typed
    assert saved(spelled) == TEXT


def test_a_text_is_saved_as_it_was_typed(spelled: SampleBrain, pages: Pages) -> None:
    """The whole text can be changed, comments included."""
    fields = fields_of(pages.html("/settings"), "/settings/text")
    typed = TEXT.replace("# two are enough", "# zwei genügen — 足够了")

    pages.follow(pages.send("/settings/text", fields | {"text": typed.replace("\n", "\r\n")}))

    assert saved(spelled) == typed


@pytest.mark.parametrize("form", ["/settings", "/settings/text"])
def test_line_ends_and_byte_order_mark_stay(spelled: SampleBrain, pages: Pages, form: str) -> None:
    """A file of Windows keeps its line ends and its mark, whichever form changes it."""
    raw = ("\ufeff" + TEXT.replace("\n", "\r\n")).encode()
    spelled.put(FILE, raw)
    fields = fields_of(pages.html("/settings"), form)
    changed = {"/settings": {"memory.recallResults": "9"}}.get(
        form, {"text": fields.get("text", "").replace("recallResults: 2", "recallResults: 9")}
    )

    pages.follow(pages.send(form, fields | changed))

    assert (spelled.root / FILE).read_bytes() == raw.replace(b"recallResults: 2", b"recallResults: 9")


@pytest.mark.rule("DASH-07")
@pytest.mark.parametrize("form", ["/settings", "/settings/text"])
def test_a_file_that_changed_meanwhile_is_not_written_over(spelled: SampleBrain, pages: Pages, form: str) -> None:
    """A stale form is refused; what was touched is kept as typed, and the rest shows what the file says now."""
    fields = fields_of(pages.html("/settings"), form)
    theirs = TEXT.replace('timezone: "Europe/Berlin"', "timezone: Asia/Tbilisi")
    spelled.put(FILE, theirs)
    typed = {"memory.recallResults": "9"} if form == "/settings" else {"text": TEXT.replace(": 2", ": 9")}

    answer = pages.send(form, fields | typed)

    assert answer.status_code == 409
    assert "somebody changed the file since you opened it" in answer.text
    assert saved(spelled) == theirs
    again = fields_of(answer.text, form)
    assert {name: again[name].replace("\r\n", "\n") for name in typed} == typed
    pages.follow(pages.send(form, again))
    mine_and_theirs = theirs.replace("recallResults: 2", "recallResults: 9")
    assert saved(spelled) == (mine_and_theirs if form == "/settings" else typed["text"])


def test_without_a_file_the_first_save_makes_it(sample: SampleBrain, pages: Pages) -> None:
    """A brain that runs on the defaults gets a manifest with only what was set."""
    html = pages.html("/settings")
    fields = fields_of(html, "/settings")
    assert "This brain has no such file yet" in html
    assert not (sample.root / FILE).exists()

    nothing = pages.follow(pages.send("/settings", fields))
    assert "There was nothing to change." in nothing
    assert not (sample.root / FILE).exists()
    pages.follow(pages.send("/settings", fields | {"memory.recentDays": "3", "sync.push": "false"}))

    assert saved(sample) == "memory:\n  recentDays: 3\nsync:\n  push: false\n"
    assert pages.brain.agent("nova").scope.settings.recent_days == 3


def test_a_read_only_file_is_a_sentence(spelled: SampleBrain, pages: Pages) -> None:
    """A file that its owner marked read-only is left alone, with one sentence, and what was typed stays."""
    (spelled.root / FILE).chmod(0o444)
    fields = fields_of(pages.html("/settings"), "/settings") | {"memory.recallResults": "9"}

    answer = pages.send("/settings", fields)

    assert answer.status_code == 422
    assert "permission denied" in answer.text
    assert fields_of(answer.text, "/settings")["memory.recallResults"] == "9"
    assert saved(spelled) == TEXT


def test_a_link_stays_a_link_and_permissions_stay(spelled: SampleBrain, pages: Pages) -> None:
    """A manifest that is a link to a file elsewhere keeps the link; the file keeps its permissions."""
    elsewhere = spelled.root.parent / "shared.yaml"
    (spelled.root / FILE).rename(elsewhere)
    elsewhere.chmod(0o640)
    (spelled.root / FILE).symlink_to(elsewhere)
    fields = fields_of(pages.html("/settings"), "/settings") | {"memory.recallResults": "9"}

    pages.follow(pages.send("/settings", fields))

    assert (spelled.root / FILE).is_symlink()
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o640
    assert "recallResults: 9" in elsewhere.read_text()
    assert sorted(path.name for path in elsewhere.parent.iterdir()) == ["brain", "shared.yaml"]


def test_a_broken_file_can_be_mended_here(sample: SampleBrain, pages: Pages) -> None:
    """A manifest whose syntax does not hold shows its fault and its text, and no form over nothing."""
    sample.put(FILE, "memory:\n  recallResults: [4\n")

    html = pages.html("/settings")

    assert 'action="/settings"' not in html
    fields = fields_of(html, "/settings/text")
    assert pages.json("/settings")["faults"][0]["line"] in {2, 3}
    pages.follow(pages.send("/settings/text", fields | {"text": "memory:\r\n  recallResults: 4\r\n"}))
    assert saved(sample) == "memory:\n  recallResults: 4\n"
    assert pages.json("/settings")["faults"] == []


@pytest.mark.rule("DASH-O2")
def test_a_change_that_would_stop_the_boot_is_not_saved(spelled: SampleBrain, pages: Pages) -> None:
    """Another file that could no longer be loaded because of the change is named with its line, and nothing is saved."""
    spelled.role("desk", "{}")
    spelled.role("scribe", "{report: [desk]}")
    spelled.put(FILE, "memory:\n  write: desk\n")
    assert pages.brain.config.faults == ()
    fields = fields_of(pages.html("/settings"), "/settings") | {"memory.write": "main"}

    content = pages.send("/settings", fields, accept="application/json").json()

    assert [(fault["path"], fault["line"], fault["id"]) for fault in content["faults"]] == [
        ("features/team/scribe.agent.md", 3, None)
    ]
    assert saved(spelled) == "memory:\n  write: desk\n"


def test_a_fault_elsewhere_keeps_no_setting_from_being_saved(spelled: SampleBrain, pages: Pages) -> None:
    """While `omnislash.yaml` does not load, a setting is saved all the same, and what it waits for is said."""
    fields = fields_of(pages.html("/settings"), "/settings") | {"memory.recallResults": "9"}
    spelled.put("omnislash.yaml", "memory: {sorces: []}\n")

    page = pages.follow(pages.send("/settings", fields))

    assert "takes effect once the faults of other files are mended" in page
    assert saved(spelled) == TEXT.replace("recallResults: 2", "recallResults: 9")
    assert pages.brain.config.manifest.memory.recall_results == 2
    spelled.put("omnislash.yaml", "memory: {sources: []}\n")
    assert pages.brain.config.manifest.memory.recall_results == 9


def test_hostile_text_is_text(spelled: SampleBrain, pages: Pages) -> None:
    """What stands in the file is shown, and is no markup."""
    spelled.put(FILE, "# </textarea><script>alert(1)</script>\nmemory:\n  write: '<b>x'\n")

    html = pages.html("/settings")

    assert "<script>alert" not in html
    assert "&lt;b&gt;x" in html


def test_a_form_of_another_site_changes_nothing(spelled: SampleBrain, pages: Pages) -> None:
    """Without the signature of a page of ours a form is refused."""
    answer = pages.client.post("/settings", data={"memory.recallResults": "9"})

    assert answer.status_code == 403
    assert saved(spelled) == TEXT


@pytest.mark.parametrize(
    ("referer", "place"),
    [
        ("http://127.0.0.1:4111/heartbeats", "/heartbeats"),
        ("http://127.0.0.1:4111/knowledge/main/sp%C3%A4t%20x.md?notice=a", "/knowledge/main/sp%C3%A4t%20x.md"),
        ("http://127.0.0.1:4111/search?q=a+b&corpus=x&corpus=y", "/search?q=a+b&corpus=x&corpus=y"),
        ("http://127.0.0.1:4111/%2Felsewhere.example", "/settings"),
        ("http://127.0.0.1:4111/settings/text", "/settings"),
        ("https://elsewhere.example/heartbeats", "/settings"),
        ("", "/settings"),
    ],
)
def test_a_save_leads_back(spelled: SampleBrain, pages: Pages, referer: str, place: str) -> None:
    """After a save in the drawer the page under it is there again; the settings after one on their own page."""
    fields = fields_of(pages.html("/settings"), "/settings") | {"memory.recallResults": "9"}
    pages.client.headers["referer"] = referer

    answer = pages.send("/settings", fields)

    assert answer.headers["location"].rpartition("notice=")[0][:-1] == place
    assert pages.html("/settings/text") == pages.html("/settings")


def test_what_is_in_the_way_is_said_once(spelled: SampleBrain, pages: Pages) -> None:
    """A directory in place of the file is named with what to do about it, and that is not said twice."""
    (spelled.root / FILE).unlink()
    (spelled.root / FILE).mkdir()

    assert pages.html("/settings", status=500).count("Move the directory away.") == 1
