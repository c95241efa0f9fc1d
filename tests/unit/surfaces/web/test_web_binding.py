"""A door answers to its own names and pages: the Host and Origin headers that belong to a binding."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from omnislash.errors import UsageError
from omnislash.surfaces.web.binding import Binding, choose_binding, is_loopback

if TYPE_CHECKING:
    from pathlib import Path

LOOPBACK = Binding(host="127.0.0.1", port=4112)
TOKEN = "a-token-of-some-length"


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:4112",
        "localhost:4112",
        "LOCALHOST:4112",
        "localhost.:4112",
        "[::1]:4112",
        "[0:0:0:0:0:0:0:1]:4112",
        "[::ffff:127.0.0.1]:4112",
        "127.8.8.8:4112",
        "localhost:04112",
    ],
)
def test_loopback_answers_to_every_form_of_its_own_name(host: str) -> None:
    """Whatever is this machine and nothing else, at the port of the door, is meant."""
    assert LOOPBACK.allows_host(host)


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "127.0.0.1",
        "localhost",
        "localhost:",
        "127.0.0.1:4113",
        "127.0.0.1:41120",
        "127.0.0.1:99999",
        "127.0.0.1:4112 ",
        "127.0.0.1:-4112",
        "127.0.0.1:+4112",
        "127.0.0.1:٤١١٢",
        "evil.example:4112",
        "localhost.evil.example:4112",
        "127.0.0.1.evil.example:4112",
        "notlocalhost:4112",
        "localhost@evil.example:4112",
        "evil.example@127.0.0.1:4112",
        "user:pass@localhost:4112",
        "localhost:4112@evil.example",
        "localhost:4112/",
        "localhost:4112#x",
        "http://localhost:4112",
        "localhost:4112,evil.example",
        "[::1:4112",
        "::1:4112",
        "[::1%lo]:4112",
        "[::2]:4112",
        "[1.2.3]:4112",
        "2130706433:4112",
        "0x7f000001:4112",
        "127.1:4112",
        "0.0.0.0:4112",
        "192.168.1.7:4112",
        "lоcalhost:4112",
        "localhost..:4112",
        "localhost\x00:4112",
        "-localhost:4112",
    ],
)
def test_loopback_answers_to_nothing_else(host: str | None) -> None:
    """Another name, another port, a trick with users or numbers, and no Host at all are refused."""
    assert not LOOPBACK.allows_host(host)


def test_the_port_of_plain_http_may_be_left_out() -> None:
    """At port 80, and only there, a Host without a port is meant."""
    assert Binding(host="127.0.0.1", port=80).allows_host("localhost")
    assert Binding(host="127.0.0.1", port=80).allows_host("localhost:")
    assert not Binding(host="127.0.0.1", port=443).allows_host("localhost")


@pytest.mark.parametrize(
    "origin", ["http://127.0.0.1:4112", "http://localhost:4112", "HTTP://LocalHost:4112", "http://[::1]:4112"]
)
def test_pages_of_the_door_itself_may_ask(origin: str) -> None:
    """An Origin with the scheme, a name and the port of the door is its own."""
    assert LOOPBACK.allows_origin(origin)


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://localhost:4111",
        "http://localhost",
        "https://localhost:4112",
        "https://127.0.0.1",
        "http://evil.example",
        "http://evil.example:4112",
        "http://localhost:4112.evil.example",
        "http://localhost:4112@evil.example",
        "http://evil.example#http://localhost:4112",
        "http://localhost:4112/",
        "http://localhost:4112 http://evil.example",
        "file://",
        "chrome-extension://abcdef",
        "://localhost:4112",
        "localhost:4112",
        "//localhost:4112",
    ],
)
def test_pages_of_others_may_not(origin: str) -> None:
    """`null`, another port, scheme or host, and what only looks like the own one are refused."""
    assert not LOOPBACK.allows_origin(origin)


def test_a_door_on_every_address_answers_to_addresses_and_to_no_foreign_name() -> None:
    """An IP address can't be made to point elsewhere, so any is right; a name has to be known."""
    everywhere = Binding(host="0.0.0.0", port=4112, token=TOKEN)

    assert everywhere.allows_host("192.168.1.7:4112")
    assert everywhere.allows_host("[fe80::1]:4112")
    assert everywhere.allows_host("localhost:4112")
    assert not everywhere.allows_host("192.168.1.7")
    assert not everywhere.allows_host("rebound.example:4112")
    assert Binding(host="::", port=4112).allows_host("10.0.0.1:4112")


def test_a_door_on_one_address_answers_to_that_one() -> None:
    """Neither the neighbour's address nor loopback reaches it."""
    one = Binding(host="192.168.1.7", port=4112, token=TOKEN)
    named = Binding(host="Nas.example", port=4112, token=TOKEN)

    assert one.allows_host("192.168.1.7:4112")
    assert not one.allows_host("192.168.1.8:4112")
    assert not one.allows_host("localhost:4112")
    assert named.allows_host("nas.example.:4112")
    for host in ("[2001:DB8::0:7]", "2001:db8:0::7"):
        assert Binding(host=host, port=4112, token=TOKEN).allows_host("[2001:db8::7]:4112")
    assert Binding(host="::ffff:192.168.1.7", port=4112, token=TOKEN).allows_host("192.168.1.7:4112")
    assert not named.allows_host("other.example:4112")


def test_further_names_are_those_of_a_proxy_in_front() -> None:
    """A name without a port is right at the usual ports and the own one; a name with a port only there."""
    door = Binding(host="127.0.0.1", port=4112, names=("brain.example", "alt.example:8443"))

    assert door.allows_host("brain.example")
    assert door.allows_host("brain.example:4112")
    assert door.allows_host("alt.example:8443")
    assert door.allows_origin("https://brain.example")
    assert door.allows_origin("http://brain.example")
    assert door.allows_origin("https://alt.example:8443")
    assert not door.allows_host("brain.example:9999")
    assert not door.allows_host("alt.example")
    assert not door.allows_origin("https://brain.example:9999")
    assert not door.allows_origin("https://brain.example:444")
    assert Binding(host="127.0.0.1", port=1, names=("brain.example:443",)).allows_origin("https://brain.example")
    assert not door.allows_origin("https://sub.brain.example")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.3.2.1", "::1", "[::1]", "localhost", "LOCALHOST", "localhost.", "::ffff:127.0.0.1"]
)
def test_loopback_is_this_machine_only(host: str, tmp_path: Path) -> None:
    """On loopback no token is asked for, and none is made."""
    chosen = choose_binding(host, 4112, directory=tmp_path, environment={})

    assert is_loopback(host)
    assert chosen.is_loopback
    assert chosen.token is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.168.1.7", "nas.example", "localhost.example", "127.0.0.1.example"]
)
def test_elsewhere_needs_a_token(host: str, tmp_path: Path) -> None:
    """Every host that could be more than this machine gets a token; a name that only looks like loopback is one."""
    chosen = choose_binding(host, 4112, directory=tmp_path, environment={"OMNISLASH_TOKEN": TOKEN})

    assert not is_loopback(host)
    assert chosen.token == TOKEN


def test_a_machine_is_known_by_its_short_name_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere than on loopback the whole name, the first part of it and that with `.local` are right, and no other."""
    monkeypatch.setattr(socket, "gethostname", lambda: "desk.lan.example")
    door = choose_binding("0.0.0.0", 4112, directory=tmp_path, environment={"OMNISLASH_TOKEN": TOKEN})

    assert all(door.allows_host(f"{name}:4112") for name in ("desk.lan.example", "desk", "desk.local"))
    assert not door.allows_host("lan.example:4112")


def test_names_come_from_the_environment(tmp_path: Path) -> None:
    """OMNISLASH_HOST_NAMES lists further names; elsewhere than on loopback the machine's own name is one too."""
    environment = {"OMNISLASH_TOKEN": TOKEN, "OMNISLASH_HOST_NAMES": " brain.example , alt.example:8443,"}
    local = choose_binding("127.0.0.1", 1, directory=tmp_path, environment=environment)
    everywhere = choose_binding("0.0.0.0", 4112, directory=tmp_path, environment=environment)

    assert local.names == ("brain.example", "alt.example:8443")
    assert everywhere.names[:2] == local.names
    assert everywhere.allows_host(f"{socket.gethostname()}:4112")


@pytest.mark.parametrize(
    ("host", "port", "names", "key"),
    [
        pytest.param("", 4112, "", "--host", id="no host, which would be every address"),
        pytest.param("http://localhost", 4112, "", "--host", id="a URL"),
        pytest.param("local host", 4112, "", "--host", id="a space"),
        pytest.param("bücher.example", 4112, "", "--host", id="a name in another script"),
        pytest.param("127.0.0.1", -1, "", "--port", id="a negative port"),
        pytest.param("127.0.0.1", 65_536, "", "--port", id="a port that is too large"),
        pytest.param("127.0.0.1", 1, "http://brain.example", "OMNISLASH_HOST_NAMES", id="a name that is a URL"),
        pytest.param("127.0.0.1", 1, "*.example", "OMNISLASH_HOST_NAMES", id="a pattern"),
    ],
)
def test_what_can_be_no_address_is_refused(host: str, port: int, names: str, key: str, tmp_path: Path) -> None:
    """One sentence names the option that makes no sense."""
    with pytest.raises(UsageError) as error:
        choose_binding(host, port, directory=tmp_path, environment={"OMNISLASH_HOST_NAMES": names})

    assert error.value.key == key


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:4112"),
        ("0.0.0.0", "http://127.0.0.1:4112"),
        ("::", "http://[::1]:4112"),
        ("[::]", "http://[::1]:4112"),
        ("::1", "http://[::1]:4112"),
        ("[::1]", "http://[::1]:4112"),
        ("nas.example", "http://nas.example:4112"),
    ],
)
def test_the_url_can_be_opened(host: str, url: str) -> None:
    """The address of a door is one that a browser understands and the door answers to."""
    door = Binding(host=host, port=4112)

    assert door.url == url
    assert door.allows_host(url.removeprefix("http://"))
    assert door.allows_origin(url)
