"""Which role and which session a chat gets from `constitution/access.yaml`."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from omnislash import UsageError
from omnislash.runtime.delivery import check_session

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain

ACCESS = """
chats:
  "telegram:1001": nova
  "telegram:1002": nova
  "group:ops-room": ops
bots:
  - name: desk
    role: stranger
    secretary: {contacts: {"maria@example.org": maria}}
"""


@pytest.fixture
def bound(sample: SampleBrain) -> SampleBrain:
    """A brain whose access rules name three chats and one bot."""
    sample.role("ops", "{write: ops}")
    sample.role("maria", "{write: maria, read: [main]}")
    sample.role("stranger", "{write: desk}", capabilities="memory:read")
    sample.put("constitution/access.yaml", ACCESS)
    return sample


@pytest.mark.rule("BOUNDARY-14", "BOUNDARY-15")
@pytest.mark.parametrize(
    ("named", "role", "line"),
    [
        ({"chat": "telegram:1001"}, "nova", "main"),
        ({"chat": "group:ops-room"}, "ops", "ops"),
        ({"bot": "desk"}, "stranger", "desk"),
        ({"bot": "desk", "contact": "somebody@example.org"}, "stranger", "desk"),
        ({"bot": "desk", "contact": "maria@example.org"}, "maria", "maria"),
    ],
)
def test_a_chat_runs_the_role_bound_to_it(bound: SampleBrain, named: dict[str, Any], role: str, line: str) -> None:
    """A chat runs the role of its rule, a direct message the bot's or, for a person who has one, that person's."""
    agent = bound.open().chat_agent(**named)
    assert (agent.scope.role, agent.scope.line) == (role, line)


@pytest.mark.rule("BOUNDARY-14")
@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"chat": "telegram:1003"}, ["constitution/access.yaml", "telegram:1003", "Did you mean", "3 chats"]),
        ({"chat": ""}, ["constitution/access.yaml", "3 chats"]),
        ({"chat": "TELEGRAM:1001"}, ["runs no role", "'telegram:1001'"]),
        ({"chat": "desk"}, ["runs no role"]),
        ({"bot": "telegram:1001"}, ["the bot 'telegram:1001'", "1 bot: 'desk'"]),
        ({"bot": "dexk", "contact": "maria@example.org"}, ["Did you mean 'desk'?"]),
    ],
)
def test_a_chat_that_no_rule_names_runs_nothing(bound: SampleBrain, named: dict[str, Any], words: list[str]) -> None:
    """Nothing runs; the sentence names the file, what it knows and the nearest name."""
    with pytest.raises(UsageError) as refused:
        bound.open().chat_agent(**named)
    said = f"{refused.value.message} {refused.value.hint}"
    assert [word for word in words if word not in said] == []


@pytest.mark.parametrize(
    "named",
    [
        {},
        {"chat": "telegram:1001", "bot": "desk"},
        {"contact": "maria@example.org"},
        {"chat": "telegram:1001", "contact": "maria@example.org"},
        {"bot": "desk", "contact": " "},
    ],
)
def test_a_call_that_names_nobody_or_two_is_refused(bound: SampleBrain, named: dict[str, Any]) -> None:
    """Either a chat or a bot is meant, and a contact writes to a bot."""
    with pytest.raises(UsageError):
        bound.open().chat_agent(**named)


@pytest.mark.rule("BOUNDARY-13", "BOUNDARY-16")
def test_two_chats_of_one_role_share_the_line_and_no_session(bound: SampleBrain) -> None:
    """What is written in the one chat is read in the other, and each goes on in a session of its own."""
    brain = bound.open()
    first, second = brain.chat_agent(chat="telegram:1001"), brain.chat_agent(chat="telegram:1002")
    assert first.memory.write("The stove is out.").paths == ("main/2026/08/2026-08-30.md",)
    assert "The stove is out." in second.memory.read("main/2026/08/2026-08-30.md").content
    assert (first.session, second.session) == ("chat:telegram:1001", "chat:telegram:1002")
    assert sorted(path for path in bound.files()) == ["main/2026/08/2026-08-30.md"]


@pytest.mark.rule("BOUNDARY-15", "BOUNDARY-16")
def test_members_of_a_shared_role_share_its_line_and_no_session(bound: SampleBrain) -> None:
    """Two people without a role of their own write one line, in two sessions; Maria's is hers alone."""
    brain = bound.open()
    people = ["ann@example.org", "bo@example.org", "maria@example.org", None]
    agents = [brain.chat_agent(bot="desk", contact=who) for who in people]
    assert [agent.scope.line for agent in agents] == ["desk", "desk", "maria", "desk"]
    assert len({agent.session for agent in agents}) == 4


def test_no_contact_looks_like_the_name_of_a_bot(bound: SampleBrain) -> None:
    """The bot `desk:ann` on its own and Ann at the bot `desk` have sessions of their own."""
    more = "  - {name: 'desk:ann', role: stranger}\n  - {name: 'desk%3Aann', role: stranger}\n"
    bound.put("constitution/access.yaml", ACCESS + more)
    brain = bound.open()
    agents = [brain.chat_agent(bot="desk", contact="ann")]
    agents += [brain.chat_agent(bot=name) for name in ("desk:ann", "desk%3Aann")]
    assert len({agent.session for agent in agents}) == 3


def test_names_that_can_not_be_ids_have_sessions_too(bound: SampleBrain) -> None:
    """A name that is very long or holds control characters leads to a session of its own, the same each time."""
    names = ["x" * 500, "x" * 501, "a\nb", "a b", "#a", "\N{ZERO WIDTH SPACE}"]
    names.append(f"#{hashlib.sha256(('x' * 500).encode()).hexdigest()}")
    bound.put("constitution/access.yaml", json.dumps({"chats": dict.fromkeys(names, "nova")}))
    brain = bound.open()
    sessions = [check_session(brain.chat_agent(chat=name).session or "") for name in names]
    assert len(set(sessions)) == len(names)
    assert brain.chat_agent(chat=names[0]).session == sessions[0]


@pytest.mark.rule("BOUNDARY-14", "KNOB-26")
def test_a_rule_that_is_taken_away_ends_the_chat_at_once(bound: SampleBrain) -> None:
    """The rules are read for each turn: one that is removed or changed counts from the next turn on."""
    brain = bound.open()
    assert brain.chat_agent(chat="telegram:1001").scope.role == "nova"
    bound.put("constitution/access.yaml", 'chats: {"telegram:1001": ops}\n')
    assert brain.chat_agent(chat="telegram:1001").scope.role == "ops"
    bound.put("constitution/access.yaml", "chats: {}\n")
    with pytest.raises(UsageError, match="runs no role"):
        brain.chat_agent(chat="telegram:1001")


@pytest.mark.rule("BOUNDARY-14", "KNOB-O5")
def test_faulty_rules_let_nobody_in(bound: SampleBrain) -> None:
    """While the file has a fault no chat runs anything, and the sentence says where the fault is."""
    brain = bound.open()
    bound.put("constitution/access.yaml", 'chats: {"telegram:1001": nova}\nchatz: {}\n')
    with pytest.raises(UsageError) as refused:
        brain.chat_agent(chat="telegram:1001")
    assert "constitution/access.yaml:2" in f"{refused.value.hint}"


@pytest.mark.rule("BOUNDARY-14")
def test_a_rule_whose_role_does_not_load_runs_nothing(bound: SampleBrain) -> None:
    """A chat whose role has faults is refused with the fault, and the others go on."""
    brain = bound.open()
    bound.put("features/team/ops.agent.md", "---\nmemory: {writ: ops}\n---\nYou are ops.\n")
    with pytest.raises(UsageError) as refused:
        brain.chat_agent(chat="group:ops-room")
    assert "constitution/access.yaml:5: chats.group:ops-room: The role 'ops' does not load." in refused.value.message
    assert "ops.agent.md:2" in f"{refused.value.hint}"
    assert brain.chat_agent(chat="telegram:1001").scope.role == "nova"


@pytest.mark.rule("BOUNDARY-14")
@pytest.mark.parametrize(
    ("named", "line", "key"),
    [
        ({"chat": "a"}, 1, "chats.a"),
        ({"bot": "desk", "contact": "bo@example.org"}, 4, "bots[0].role"),
        ({"bot": "desk", "contact": "Maria@example.org"}, 5, "bots[0].secretary.contacts.maria@example.org"),
    ],
)
def test_a_rule_with_a_role_that_does_not_exist_is_named(
    bound: SampleBrain, named: dict[str, Any], line: int, key: str
) -> None:
    """The sentence names the file, the line and the key of the rule, and the nearest role."""
    text = "chats: {a: novaa}\nbots:\n  - name: desk\n    role: novaa\n    secretary: {contacts: {maria@example.org: novaa}}\n"
    bound.put("constitution/access.yaml", text)
    with pytest.raises(UsageError) as refused:
        bound.open().chat_agent(**named)
    place = f"constitution/access.yaml:{line}: {key}"
    assert refused.value.message == f"{place}: The role 'novaa' does not exist."
    assert (refused.value.path, refused.value.line, refused.value.key) == ("constitution/access.yaml", line, key)
    assert refused.value.hint == "Did you mean 'nova'?"


@pytest.mark.rule("BOUNDARY-15", "BOUNDARY-16")
def test_the_case_of_an_address_leads_to_nobody_else(bound: SampleBrain) -> None:
    """Maria's address in capitals is Maria: her role, her line and her session."""
    brain = bound.open()
    small, large = (brain.chat_agent(bot="desk", contact=f"{name}@example.org") for name in ("maria", "MARIA"))
    assert large.scope.line == "maria"
    assert large.session == small.session == "bot:desk:maria@example.org"


@pytest.mark.rule("BOUNDARY-14")
def test_a_chat_that_is_given_another_role_begins_anew(bound: SampleBrain) -> None:
    """What the chat said with its former role is not handed to the new one; given back, the old talk goes on."""
    brain = bound.open()
    state = brain._open_state()
    with state.transaction():
        state.run("open_session", id="chat:telegram:1001", role="nova", at="2026-08-30T09:05:00+00:00")
    bound.put("constitution/access.yaml", 'chats: {"telegram:1001": ops, "telegram:1001@ops": ops}\n')
    agent = brain.chat_agent(chat="telegram:1001")
    assert agent.scope.role == "ops"
    assert agent.session not in {"chat:telegram:1001", brain.chat_agent(chat="telegram:1001@ops").session}
    assert brain.chat_agent(chat="telegram:1001").session == agent.session
    bound.put("constitution/access.yaml", ACCESS)
    assert brain.chat_agent(chat="telegram:1001").session == "chat:telegram:1001"


@pytest.mark.rule("BOUNDARY-07", "TOOL-08", "REPORT-08", "REPORT-14")
def test_a_report_of_the_role_holds_in_a_chat(bound: SampleBrain) -> None:
    """A role's own `report` opens a line in a chat too, signed with the role alone; a beat's opens it in the beat only."""
    bound.role("nova", "{report: [ops]}")
    bound.role("clerk", "{write: clerk}")
    bound.beat("round", "clerk", "{report: [ops]}")
    bound.put("constitution/access.yaml", "chats: {a: nova, b: clerk}\n")
    brain = bound.open()
    brain.chat_agent(chat="a").memory.write("The hall light is out.", line="ops")
    assert bound.text("ops/2026/08/2026-08-30.md").endswith("- 09:05 The hall light is out. — nova\n")
    assert brain.chat_agent(chat="b").memory.write("Mine too.", line="ops").outcome == "refused"
    assert brain.agent("clerk", heartbeat="round").memory.write("Mine too.", line="ops").outcome == "written"
    assert bound.text("ops/2026/08/2026-08-30.md").endswith("Mine too. — clerk · round\n")


@pytest.mark.rule("BOUNDARY-17", "SCOPE-08", "SCOPE-18")
def test_the_example_of_a_person_works(bound: SampleBrain) -> None:
    """`write: maria, read: [main, people/maria], recall: []`: nothing from outside rides a turn, and both are found."""
    bound.sources("people/maria")
    bound.role("maria", "{write: maria, read: [main, people/maria], recall: []}")
    bound.put("people/maria/style.md", "# Style\n\nThe quince jelly wants a tall glass.\n")
    bound.put_memory("main/MEMORY.md", "# Main\n\n- The quince tree stands by the gate.\n")
    agent = bound.open().chat_agent(bot="desk", contact="maria@example.org")
    assert agent.recall("What about the quince?").block == ""
    found = {hit.path for hit in agent.memory.search("quince").hits}
    assert found == {"people/maria/style.md", "main/MEMORY.md"}
    assert agent.memory.write("Maria likes quince.").paths == ("maria/2026/08/2026-08-30.md",)
    assert {path for path in bound.files() if path.startswith("main/")} == {"main/MEMORY.md"}
