"""Which proxy an address is reached through, by the configuration and the environment; must not use one."""

from __future__ import annotations

import ipaddress
from fnmatch import fnmatchcase
from urllib.request import getproxies, proxy_bypass

from .remote import is_loopback, origin


def proxy_for(url: str, configured: str | None = None) -> str | None:
    """The address of the proxy, None for none. ``configured`` replaces the environment's.

    NO_PROXY counts for both; what lies on this machine is never asked of a configured one: to that, it would
    be itself. Raises ValueError for what is no address.
    """
    scheme, host, port = origin(url)
    proxies = getproxies()
    proxy = configured or proxies.get(scheme) or proxies.get("all")
    if not proxy or (configured and is_loopback(url)):
        return None
    if is_excepted(host, port, proxies.get("no", "")) or proxy_bypass(f"{host}:{port}"):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def is_excepted(host: str, port: int | None, names: str) -> bool:
    """Whether NO_PROXY names this host: itself, a domain it is in, a network, or a pattern with ``*``."""
    return any(_names(name.strip().lower(), host, port) for name in names.split(","))


def _names(name: str, host: str, port: int | None) -> bool:
    if not name:
        return False
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(name.strip("[]"), strict=False)
    except ValueError:
        pattern, colon, wanted = name.rpartition(":")
        if colon and wanted.isdigit():
            if int(wanted) != port:
                return False
            name = pattern
    domain = name.strip("[]").removeprefix("*.").removeprefix(".")
    return fnmatchcase(host, name) or host == domain or host.endswith(f".{domain}")
