"""Which hosts HTTP GET may reach: a list of names, and no address inside the own network behind any of them."""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any

import httpcore
import httpx

from agent.errors import ConfigurationError
from agent.tools.registry import ErrorKind, ToolError

VARIABLE = "PLANDECK_HTTP_ALLOW"
PORTS = {"http": 80, "https": 443}
HOST_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")
TRANSLATED = IPv6Network("64:ff9b::/96")
"""IPv6 addresses that stand for the IPv4 address in their last four bytes."""
UNICAST = IPv6Network("2000::/3")
"""All that has been given away of IPv6 as addresses of single machines."""
METADATA = frozenset({IPv4Address("168.63.129.16")})
"""What clouds answer their secrets on, and what does not look like it; the others are link-local or private."""

Resolve = Callable[[str, int], list[str]]
"""The addresses of a host name; OSError if it has none."""


def resolve(host: str, port: int) -> list[str]:
    """What the system's resolver says, each address once."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True, slots=True)
class AllowList:
    """The hosts of `PLANDECK_HTTP_ALLOW`: (host, port), where no port means the scheme's own."""

    entries: frozenset[tuple[str, int | None]]

    @classmethod
    def parse(cls, text: str) -> AllowList:
        """`host` or `host:port`, comma-separated; ConfigurationError naming an entry that is neither."""
        return cls(frozenset(_entry(item.strip()) for item in text.split(",") if item.strip()))

    def check(self, url: httpx.URL, *, otherwise: ErrorKind) -> None:
        """ToolError of the kind `otherwise` for what is no plain web address, `permission_denied` off the list."""
        if url.scheme not in PORTS:
            raise ToolError(f"Only http and https addresses are fetched, not {url.scheme or 'none'}.", kind=otherwise)
        if url.userinfo:
            raise ToolError("An address with a user name or password in it is not fetched.", kind=otherwise)
        host, port = _plain(url.raw_host.decode("ascii")), url.port or PORTS[url.scheme]
        if (host, port) not in self.entries and not (
            (host, None) in self.entries and url.port in (None, PORTS[url.scheme])
        ):
            raise ToolError(
                f"{_shown(host, port)} is not among the hosts of {VARIABLE}, so nothing was fetched from it.",
                kind=ErrorKind.PERMISSION_DENIED,
                code="host_not_allowed",
            )

    def checked(self, host: str, port: int, resolver: Resolve) -> list[str]:
        """The addresses that a connection to the host may go to; ToolError if one of them is not on the internet.

        An address that stands on the list itself, with its port, is taken whatever it is.
        """
        plain = _plain(host)
        literal = _address(plain)
        if literal is not None and (plain, port) in self.entries:
            return [plain]
        addresses = [plain] if literal is not None else _resolved(host, port, resolver)
        for item in addresses:
            if not is_public(item):
                raise ToolError(
                    f"{_shown(plain, port)} leads to {item}, which is not on the public internet; to allow it, list "
                    f"that address with its port in {VARIABLE} and ask for it by that address.",
                    kind=ErrorKind.PERMISSION_DENIED,
                    code="address_not_public",
                )
        return addresses

    def __str__(self) -> str:
        return ", ".join(_shown(host, port) for host, port in sorted(self.entries, key=str))


def is_public(address: str) -> bool:
    """Whether an address is somebody's on the internet; also judged by the IPv4 address inside an IPv6 one."""
    found = _address(address)
    if found is None:
        return False
    judged: list[IPv4Address | IPv6Address] = [found]
    if isinstance(found, IPv6Address):
        inside = [found.ipv4_mapped, found.sixtofour, *(found.teredo or ())]
        if found in TRANSLATED:
            inside.append(IPv4Address(int(found) & 0xFFFF_FFFF))
        judged = [item for item in inside if item is not None] or judged
    return all(map(_is_somebodys, judged))


class GuardedBackend(httpcore.NetworkBackend):
    """Connections to the very addresses that were checked, whose reads and writes all end at one deadline."""

    def __init__(
        self,
        allowed: AllowList,
        deadline: float,
        resolver: Resolve = resolve,
        dialler: httpcore.NetworkBackend | None = None,
    ) -> None:
        """`deadline` is a `time.monotonic()`."""
        self._allowed, self._deadline, self._resolve = allowed, deadline, resolver
        self._dialler = dialler or httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address of the host that answers."""
        addresses = self._allowed.checked(host, port, self._resolve)
        for last, address in enumerate(addresses, start=1 - len(addresses)):
            try:
                stream = self._dialler.connect_tcp(
                    address, port, left(self._deadline, timeout), local_address, socket_options
                )
                return _Timed(stream, self._deadline)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if last == 0:
                    raise
        raise httpcore.ConnectError(f"{host} has no address")


class _Timed(httpcore.NetworkStream):
    """A stream that no slow drip keeps open beyond its deadline."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: float) -> None:
        self._inner, self._deadline = inner, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, left(self._deadline, timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, left(self._deadline, timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        secured = self._inner.start_tls(ssl_context, server_hostname, left(self._deadline, timeout))
        return _Timed(secured, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _is_somebodys(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address):
        return address in UNICAST and address.is_global
    return address.is_global and not address.is_multicast and address not in METADATA


def left(deadline: float, timeout: float | None) -> float:
    """The seconds that an operation may take: what is asked, and no longer than until the deadline."""
    rest = deadline - time.monotonic()
    if rest <= 0:
        raise httpcore.ReadTimeout("the time for the whole request is over")
    return rest if timeout is None else min(rest, timeout)


def _entry(item: str) -> tuple[str, int | None]:
    wrong = ConfigurationError(
        f"{VARIABLE} has {item!r}; give hosts by comma, each as example.org, example.org:8443, 10.0.0.5:80 or [::1]:80."
    )
    try:
        url = httpx.URL(f"allow://{item}")
        host = _plain(url.raw_host.decode("ascii"))
        known = _address(host) is not None or HOST_NAME.fullmatch(host)
    except (httpx.InvalidURL, UnicodeError) as error:
        raise wrong from error
    if (
        not known
        or not 1 <= (url.port or 1) <= 65535
        or url.userinfo
        or url.raw_path not in (b"", b"/")
        or url.fragment
        or item.endswith("/")
    ):
        raise wrong
    return host, url.port


def _plain(host: str) -> str:
    """One spelling of a host: an IP address in its canonical form, a name without its last dot."""
    address = _address(host)
    return str(address) if address is not None else host.lower().removesuffix(".")


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _resolved(host: str, port: int, resolver: Resolve) -> list[str]:
    try:
        return resolver(host, port)
    except (OSError, UnicodeError) as error:
        raise ToolError(f"The host {host} cannot be found.", kind=ErrorKind.UNAVAILABLE, code="no_host") from error


def _shown(host: str, port: int | None) -> str:
    name = f"[{host}]" if ":" in host else host
    return name if port is None else f"{name}:{port}"
