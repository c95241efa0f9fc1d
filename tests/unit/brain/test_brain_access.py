"""access.yaml, engine-capabilities.json and scenarios."""

from __future__ import annotations

import pytest

from omnislash.brain.access import Access, parse_access
from omnislash.brain.capabilities import Capabilities, parse_capabilities
from omnislash.brain.scenarios import Scenario, parse_scenario


@pytest.mark.rule("BOUNDARY-14", "BOUNDARY-15")
def test_example_of_the_interface_loads() -> None:
    """A chat runs its role, and a bot the role of the person who writes."""
    access = parse_access(
        'chats: { "telegram:1001": nova, "group:ops-room": ops, 1001: nova }\n'
        "bots:\n"
        '  - { name: desk, role: stranger, secretary: { contacts: { "maria@example.org": maria } } }\n'
    ).value
    assert access is not None
    assert [access.role_of_chat(chat) for chat in ("group:ops-room", "1001", "unknown")] == ["ops", "nova", None]

    bot = access.bot("desk")
    assert bot is not None
    assert [bot.role_for(contact) for contact in ("maria@example.org", "other", None)] == [
        "maria",
        "stranger",
        "stranger",
    ]
    assert access.bot("other") is None
    assert dict(access.named_roles()) == {
        ("chats", "telegram:1001"): "nova",
        ("chats", "group:ops-room"): "ops",
        ("chats", "1001"): "nova",
        ("bots", 0, "role"): "stranger",
        ("bots", 0, "secretary", "contacts", "maria@example.org"): "maria",
    }


@pytest.mark.rule("BOUNDARY-15")
def test_an_address_is_the_same_in_upper_and_lower_case() -> None:
    """E-mail addresses are compared without their case, other contacts as they are."""
    access = parse_access(
        "bots:\n  - name: desk\n    role: stranger\n    secretary: {contacts: {Maria@Example.org: maria, Bo: bo}}\n"
    ).value
    assert access is not None
    bot = access.bots[0]
    asked = ("maria@example.org", "MARIA@example.ORG", "Bo", "bo", "maria@example.com", "x maria@example.org")
    assert [bot.role_for(contact) for contact in asked] == ["maria", "maria", "bo", "stranger", "stranger", "stranger"]


def test_one_address_twice_is_a_fault() -> None:
    """Two contacts that differ in case only are refused with their place: nobody can tell which is meant."""
    found = parse_access(
        "bots:\n  - name: desk\n    role: x\n    secretary:\n      contacts:\n"
        "        maria@example.org: maria\n        Maria@example.org: ida\n        bo: x\n        Bo: y\n"
    )
    assert found.value is None
    assert [(fault.line, fault.key, fault.message) for fault in found.faults] == [
        (
            7,
            "bots[0].secretary.contacts.Maria@example.org",
            "'Maria@example.org' differs from 'maria@example.org' in upper and lower case only.",
        )
    ]


@pytest.mark.parametrize("text", ["", "chats:\n", "chats: {}\nbots: []\n"])
def test_empty_access_lets_nobody_in(text: str) -> None:
    """Without a rule no chat runs anything."""
    assert parse_access(text).value == Access()


def test_wrong_rules_are_named() -> None:
    """Every wrong rule is named with its place."""
    found = parse_access("chats: {1: [nova], 2: a/b}\nbots:\n  - {nme: desk, role: x}\n  - y\n")
    assert found.value is None
    assert [(fault.line, fault.key) for fault in found.faults] == [
        (1, "chats.1"),
        (1, "chats.2"),
        (3, "bots[0].nme"),
        (3, "bots[0].name"),
        (4, "bots[1]"),
    ]


@pytest.mark.rule("TOOL-16")
@pytest.mark.parametrize(
    ("text", "gated"),
    [
        pytest.param("", True, id="no file"),
        pytest.param("{}", True, id="nothing said"),
        pytest.param('{"memory:delete": {}}', True, id="nothing said about it"),
        pytest.param('{"memory:delete": {"hitl": true}}', True, id="on"),
        pytest.param('{"memory:delete": {"hitl": false}}', False, id="off"),
    ],
)
def test_deleting_asks_a_person(text: str, gated: bool) -> None:
    """Deleting is approved by a person unless the file says false."""
    found = parse_capabilities(text).value
    assert found is not None
    assert found.needs_approval("memory:delete") is gated
    assert not found.needs_approval("memory:edit")


def test_other_capabilities_may_be_gated() -> None:
    """A gate can be put on any capability."""
    found = parse_capabilities('{"memory:edit": {"hitl": true}}').value
    assert found is not None
    assert found.needs_approval("memory:edit")


@pytest.mark.rule("TOOL-16")
@pytest.mark.parametrize(
    ("text", "key"),
    [
        pytest.param('{"memory:delete": {"hitl": "false"}}', "memory:delete.hitl", id="text"),
        pytest.param('{"memory:delete": {"hitl": 0}}', "memory:delete.hitl", id="number"),
        pytest.param('{"memory:delete": {"hitl": null}}', "memory:delete.hitl", id="null"),
        pytest.param('{"memory:delete": {"hiltl": false}}', "memory:delete.hiltl", id="slip"),
        pytest.param('{"memory:delete": false}', "memory:delete", id="switch"),
        pytest.param('{"memory:deleet": {"hitl": false}}', "memory:deleet", id="capability"),
        pytest.param(
            '{"memory:delete": {"hitl": true}, "memory:delete": {"hitl": false}}', "memory:delete", id="twice"
        ),
        pytest.param('{"memory:delete": {"hitl": false},}', None, id="syntax"),
    ],
)
def test_doubtful_override_opens_no_gate(text: str, key: str | None) -> None:
    """An override that is not exactly right is refused, so that no gate opens by mistake."""
    found = parse_capabilities(text)
    assert found.value is None
    assert [fault.key for fault in found.faults] == [key]
    assert Capabilities().needs_approval("memory:delete")


@pytest.mark.rule("RESOLVE-07", "KNOB-O7")
@pytest.mark.parametrize(
    ("text", "scenario"),
    [
        pytest.param("---\nagent:\n  role: x\n  memory: 5\n---\n", Scenario("p", True, 4), id="memory"),
        pytest.param("---\nagent: { role: x }\n---\n", Scenario("p"), id="no memory"),
        pytest.param("---\nagent: x\nzzz: 1\n---\n", Scenario("p"), id="unknown keys"),
        pytest.param("---\na: [\n---\n", Scenario("p"), id="broken"),
        pytest.param("words", Scenario("p"), id="no header"),
    ],
)
def test_scenario_is_only_noted(text: str, scenario: Scenario) -> None:
    """A scenario never fails a load; a memory key in it is noted with its line."""
    assert parse_scenario(text, path="p") == scenario
