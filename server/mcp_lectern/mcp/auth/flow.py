"""The ``httpx.Auth`` of a remote server: puts its token on requests, and answers a refusal once.

It must not know what is sent. The token goes to the server's own origin alone, and into no log.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

import httpx

from mcp_lectern.mcp.auth.addresses import same_origin
from mcp_lectern.mcp.auth.authorization import Authorization
from mcp_lectern.mcp.auth.challenge import Challenge, bearer


class OAuthFlow(httpx.Auth):
    """At most one attempt for each refusal; a second one is the request's answer.

    Raises SignInFailed out of the client's ``send``.
    """

    def __init__(self, authorization: Authorization) -> None:
        self._authorization = authorization

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """One request, and once more after a 401 and after a 403 that names scopes."""
        authorization = self._authorization
        if not same_origin(str(request.url), authorization.server_url):
            yield request
            return
        token = await authorization.bearer()
        attempts = {401: authorization.after_unauthorized, 403: authorization.after_forbidden}
        while True:
            if token is not None:
                request.headers["Authorization"] = f"Bearer {token}"
            response = yield request
            attempt = attempts.pop(response.status_code, None)
            if attempt is None:
                return
            token = await attempt(token, challenge_of(response))
            if token is None:
                return


def challenge_of(response: httpx.Response) -> Challenge:
    """The Bearer challenge of a response."""
    return bearer(response.headers.get_list("www-authenticate"))
