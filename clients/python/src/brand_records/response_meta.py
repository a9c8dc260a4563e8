import math
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import NamedTuple

DAY_SECONDS = 86_400
# RFC 9110, section 5.6.7: IMF-fixdate, that of RFC 850, and asctime. `email.utils` alone takes more for a date.
_NAME, _TIME = "[A-Z][a-z]{2}", "[0-9]{2}:[0-9]{2}:[0-9]{2}"
_HTTP_DATE = f"{_NAME}, [0-9]{{2}} {_NAME} [0-9]{{4}} {_TIME} GMT|{_NAME}[a-z]*day, [0-9]{{2}}-{_NAME}-[0-9]{{2}} {_TIME} GMT"
_HTTP_DATE += f"|{_NAME} {_NAME} [ 0-9][0-9] {_TIME} [0-9]{{4}}"


class RateLimit(NamedTuple):
    """The brand's limit, which all its keys share."""

    limit: int  # requests in a window
    window_seconds: int
    remaining: int  # requests that are left
    reset_seconds: int  # until the oldest counted request leaves the window


class ResponseMeta(NamedTuple):
    """What the service says beside a response's body."""

    status: int
    brand_id: str | None  # of the key that was sent
    request_id: str | None  # quote it to support
    date: datetime | None  # when the service sent it, by its clock
    rate_limit: RateLimit | None


def response_meta(status: int, headers: Mapping[str, str]) -> ResponseMeta:
    # Such as `"brand";q=60;w=60` and `"brand";r=41;t=17`.
    limits = f"{headers.get('RateLimit-Policy', '')} {headers.get('RateLimit', '')}"
    found = [re.search(rf";\s*{name}=([0-9]{{1,9}})", limits) for name in "qwrt"]
    rate_limit = RateLimit(*(int(match[1]) for match in found if match)) if all(found) else None
    return ResponseMeta(status, headers.get("X-Brand-Id"), headers.get("X-Request-Id"), _http_date(headers.get("Date", "")), rate_limit)


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Returns the seconds of Retry-After, a day at most: whole seconds, or an HTTP date, which counts from the response's own."""
    text = headers.get("Retry-After", "")
    if re.fullmatch("[0-9]+", text):
        return min(float(text), DAY_SECONDS)  # int() refuses 4,300 digits.
    if (at := _http_date(text)) is None:
        return None
    sent_at = _http_date(headers.get("Date", "")) or datetime.now(timezone.utc)
    return min(max(0, math.ceil((at - sent_at).total_seconds())), DAY_SECONDS)


def _http_date(text: str) -> datetime | None:
    try:
        # A leap second counts as the one before it.
        at = parsedate_to_datetime(re.sub(":60(?= )", ":59", text)) if re.fullmatch(_HTTP_DATE, text) else None
    except (TypeError, ValueError):
        return None
    return at and at.replace(tzinfo=timezone.utc)
