"""Whose certificates are trusted, and what is wrong with one, in words; must not know what is exchanged.

Trusted are the machine's own authorities, the bundle that comes with the HTTP client, and a file that the
user names. There is no way to trust everybody.
"""

from __future__ import annotations

import ssl
from functools import lru_cache
from pathlib import Path

import certifi

_WAITING = (ssl.SSLWantReadError, ssl.SSLWantWriteError)
"""What an unfinished handshake raises: no trouble of its own."""


class CertificateFileError(Exception):
    """``network.caFile`` cannot be used; ``str()`` says why."""


def tls_context(ca_file: Path | None, *, trusting: bool) -> ssl.SSLContext:
    """What verifies certificates. ``trusting`` False: nobody is trusted, for addresses that need no TLS.

    Reads files, about 30 ms. Raises CertificateFileError.
    """
    if not trusting:
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca_file is None:
        return _context(None, 0)
    try:
        return _context(str(ca_file), ca_file.stat().st_mtime_ns)
    except ssl.SSLError as error:
        raise CertificateFileError(
            f"the file {ca_file} of network.caFile holds no certificates in PEM"
        ) from error
    except OSError as error:
        raise CertificateFileError(f"network.caFile cannot be read: {error}") from error


_ANOTHER_NAME = (62, 64)
"""OpenSSL's codes for a certificate of another host or IP address."""
_ANOTHER_TIME = (9, 10)
"""Those for one that is not valid yet, or no longer."""


@lru_cache(maxsize=4)
def _context(ca_file: str | None, _changed: int) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    if ca_file is not None:
        context.load_verify_locations(ca_file)
    return context


def certificate_trouble(error: BaseException) -> str | None:
    """What is wrong with a server's certificate or TLS; None where that is not the matter."""
    found: BaseException | None = error
    while found is not None and (not isinstance(found, ssl.SSLError) or isinstance(found, _WAITING)):
        found = found.__cause__ or found.__context__
    if not isinstance(found, ssl.SSLError):
        return None
    if isinstance(found, ssl.SSLCertVerificationError):
        what = found.verify_message or "it cannot be verified"
        if found.verify_code in _ANOTHER_NAME:
            return f"its certificate is for another name ({what}); check its address"
        if found.verify_code in _ANOTHER_TIME:
            return f"its certificate does not count today ({what}); check the date, or tell its operator"
        return (
            f"its certificate is not trusted ({what}); if an organisation's own authority has issued it, "
            "name that authority's file in network.caFile"
        )
    if found.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST"):
        return "it does not speak TLS; if it has none, its address begins with http://"
    return f"TLS failed ({found.reason or found})"
