"""Where an OpenAI-compatible endpoint is, and how it is reached: decided by the environment that is handed in.

Nothing here looks at the environment of the process; the surfaces hand it in, so that a program that embeds omnislash
decides what is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from omnislash.index.embedders.ports import EmbedderUnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from httpx import Client

#: Where requests go when `OPENAI_BASE_URL` is not set.
DEFAULT_URL = "https://api.openai.com/v1"
#: The variable that holds the key, and the one that holds the place.
KEY, URL = "OPENAI_API_KEY", "OPENAI_BASE_URL"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A place that answers `POST {url}/embeddings`."""

    #: Without a slash at its end.
    url: str
    #: Sent as a bearer token; empty for a server of one's own that asks for none.
    key: str = field(repr=False)
    #: Proxy that the requests go through; None for none.
    proxy: str | None = field(repr=False, default=None)
    #: File of certificates that are trusted instead of the usual ones; None for those.
    certificates: str | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Endpoint:
        """Return what `OPENAI_BASE_URL`, `OPENAI_API_KEY`, the proxy variables and `SSL_CERT_FILE` say."""
        url = (environment.get(URL) or DEFAULT_URL).strip().rstrip("/")
        key = environment.get(KEY, "").strip()
        return cls(url, key, _find_proxy(url, environment), environment.get("SSL_CERT_FILE") or None)

    @property
    def host(self) -> str:
        """Host, and port if one is given: the part that messages show."""
        place = urlsplit(self.url).netloc.rpartition("@")[2]
        return place or self.url

    def check(self) -> None:
        """Make sure that it can be asked at all.

        Raises:
            EmbedderUnavailableError: The key is missing, or the place is none.
        """
        if not self.key and self.url == DEFAULT_URL:
            message = f"{KEY} is not set, so the embedding endpoint can't be asked."
            hint = f"Set {KEY} (and {URL} for another endpoint), or memory.embeddingModel: local."
            raise EmbedderUnavailableError(message, key=KEY, hint=hint)
        if not (self.key.isascii() and self.key.isprintable()):
            message = f"{KEY} holds characters that no key has."
            raise EmbedderUnavailableError(message, key=KEY, hint=f"Set {KEY} again; it is one line of plain letters.")
        try:
            parts = urlsplit(self.url)
            usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc
            _ = parts.port
        except ValueError:
            usable = False
        if not usable or any(letter.isspace() for letter in self.url):
            message = f"{URL} is no address of an endpoint."
            hint = f"Write it like {DEFAULT_URL}, without a user name; the key goes into {KEY}."
            raise EmbedderUnavailableError(message, key=URL, hint=hint)

    def connect(self) -> Client:
        """Return a client for it that follows no redirect: the key goes nowhere else.

        Raises:
            EmbedderUnavailableError: A module is missing, or the file of certificates or the proxy is none.
        """
        self.check()
        try:
            import ssl  # noqa: PLC0415 - a tenth of the time that a search of its own process takes

            import httpx  # noqa: PLC0415 - only for brains that use an endpoint

            verify = ssl.create_default_context(cafile=self.certificates) if self.certificates else True
            headers = {"authorization": f"Bearer {self.key}"} if self.key else {}
            return httpx.Client(headers=headers, proxy=self.proxy, verify=verify, trust_env=False)
        except ImportError as error:
            message = f"The embedding endpoint can't be asked: {error}."
            raise EmbedderUnavailableError(message, hint="pip install omnislash") from error
        except (OSError, ValueError) as error:
            message = (
                "The embedding endpoint can't be asked: the proxy or SSL_CERT_FILE of the environment is unusable."
            )
            raise EmbedderUnavailableError(message, hint="Correct it, or unset it.") from error


def _find_proxy(url: str, environment: Mapping[str, str]) -> str | None:
    """Return the proxy for an address as curl would choose it; None when `NO_PROXY` names the host or none is set."""
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0].rpartition("@")[2].partition(":")[0].lower()
    excepted = environment.get("NO_PROXY") or environment.get("no_proxy") or ""
    for name in (part.strip().lstrip("*.").lower() for part in excepted.split(",")):
        if name and (host == name or host.endswith(f".{name}")):
            return None
    if excepted.strip() == "*":
        return None
    names = (f"{scheme}_proxy", f"{scheme.upper()}_PROXY", "all_proxy", "ALL_PROXY")
    return next((environment[name] for name in names if environment.get(name)), None)
