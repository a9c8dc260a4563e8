import random
import re
from collections.abc import Callable
from contextlib import suppress
from time import monotonic, sleep
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx

from .errors import BrandRecordsError, advice_for
from .exchange import NO_BRAND, Answer, Request, exchange, require_seconds, within

Key = str | Callable[[], str] | None
OnRetry = Callable[["Retry"], None]
# The cheapest request whose response names the brand of the key. HEAD would not have the service's error, which is in the body.
BRAND_REQUEST = Request("GET", "/api/v1/campaigns?limit=1", lambda body: isinstance(body, dict))


class Retry(NamedTuple):
    """A failed request that is about to be repeated."""

    error: BrandRecordsError
    attempts: int  # how often the request was sent
    delay: float  # seconds until it is sent again
    path: str  # below the service's address, with the query


class Transport:
    """Every request must be safe to repeat."""

    def __init__(self, url: str | None, key: Key, timeout: float, http: httpx.Client | None, on_retry: OnRetry) -> None:
        self._key: str | Callable[[], str] = key if callable(key) else _require_key(key)
        self._url, self._timeout = _read_url(url), require_seconds("timeout", timeout)
        self.on_retry, self._http, self._is_own = on_retry, http or httpx.Client(), http is None
        self._confirmed_key: str | None = None  # a response has shown it to be of the expected brand
        self._is_answered = False  # a response has shown that `url` leads to a server

    def close(self) -> None:
        if self._is_own:
            self._http.close()

    def send(self, request: Request, deadline: float, expected: str | None) -> Answer:
        """Returns a whole, successful response. Repeats what may pass, and ends before a wait that the deadline leaves no time for."""
        ends_at, attempts = monotonic() + deadline, 0
        key, is_replaced, before = self._read_key(ends_at, attempts), False, None
        while True:
            attempts += 1
            try:
                # What a key of the wrong brand made could not be taken back.
                if request.method == "POST" and expected is not None and self._confirmed_key != key:
                    self._send_once(BRAND_REQUEST, key, ends_at, expected)
                    self._confirmed_key = key
                return self._send_once(request, key, ends_at, expected)
            except BrandRecordsError as error:
                error.attempts = attempts
                if before is not None and error.code == "no_response" and monotonic() >= ends_at:
                    before.attempts = attempts
                    raise before from None  # It says more than one that the deadline cut short.
                self._is_answered |= error.status is not None or error.brand_id is not None
                # What no repetition changes fails at once, unless the server has responded before: then it is restarted, or moves.
                if attempts == 1 and not self._is_answered and (advice := advice_for(error.__cause__, httpx.URL(self._url))):
                    error.args, error.is_temporary = (f"{error}: {advice}",), False
                if error.status == 401:
                    # The key may have been replaced while the request was on its way: once, as a function may return another each time.
                    if is_replaced or (following := self._read_key(ends_at, attempts)) == key:
                        raise
                    key, is_replaced = following, True
                    continue
                delay = retry_delay(error, attempts - 1, random.random())
                if not error.is_temporary or monotonic() + delay >= ends_at:
                    raise
                before = error
                self.on_retry(Retry(error, attempts, delay, request.path))
            sleep(delay)

    def _send_once(self, request: Request, key: str, ends_at: float, expected: str | None) -> Answer:
        try:
            body, meta = exchange(self._http, self._url, request, key, max(0.001, min(self._timeout, ends_at - monotonic())))
        except BrandRecordsError as error:
            _require_brand(expected, error.brand_id or expected)  # A proxy names none.
            raise
        self._is_answered = True
        _require_brand(expected, meta.brand_id)
        return body, meta

    def _read_key(self, ends_at: float, attempts: int) -> str:
        if not callable(self._key):
            return self._key
        try:
            return _require_key(within(ends_at - monotonic(), self._key))
        except TimeoutError as error:
            raise BrandRecordsError(f"no key: the key function returned {error}", "no_response", attempts=attempts) from error


def _read_url(text: str | None) -> str:
    """Returns the address that paths follow. Raises ValueError without the text: it may have a password."""
    with suppress(ValueError, httpx.InvalidURL):
        parts, url = urlsplit(text := (text or "").strip()), str(httpx.URL(text))
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and not set("?#@ ") & set(url):
            return url.rstrip("/")
    raise ValueError("url must be the service's address, https://…, without user, query and fragment")


def _require_key(key: object) -> str:
    """Returns the key without white space around it, as a file has. Raises ValueError without the key: a log may keep it."""
    trimmed = key.strip() if isinstance(key, str) else ""
    if re.fullmatch("[!-~]+", trimmed) is None:
        raise ValueError("key must be an API key, brk_live_… or brk_test_…")
    return trimmed


def _require_brand(expected: str | None, brand_id: str | None) -> None:
    if expected not in (None, brand_id):
        message = f"the response has {NO_BRAND}" if brand_id is None else f"the key is of brand {brand_id}, not of {expected}"
        raise BrandRecordsError(message, "wrong_brand", brand_id=brand_id)


def retry_delay(error: BrandRecordsError, failures: int, chance: float) -> float:
    """Returns the seconds to wait before a request is sent again, after some failures before this one.

    Half of the growing pause is by chance, so that clients which failed together return apart; chance alone made storms. It comes after a
    time that the service names: a server that always names one second was asked each second.
    """
    return (error.retry_after or 0) + min(20.0, 0.5 * 2.0 ** min(failures, 10)) * (1 + chance) / 2
