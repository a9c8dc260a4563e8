import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeGuard, cast

from .generated.api import EVENT_TYPES, AnyEvent, BrandEvent

DeliveryProblem = Literal[
    "missing_header", "malformed_header", "timestamp_outside_window", "wrong_signature", "invalid_body", "header_mismatch"
]
Body = bytes | bytearray | memoryview | str
# As frameworks have them, or pairs of names and values. Names may be in any case.
Headers = Mapping[str, Any] | Iterable[tuple[str, str]]
# One secret as it was shown, or several during a rotation: a list, or one text with commas. None, which a missing setting is, is refused.
Secrets = str | Iterable[str] | None
# Timestamp, whether it is the service's own, what is signed before the body, and the digest.
_Signature = tuple[str, bool, str, bytes]
SIGNATURES_MAX = 8  # The service sends two during a rotation. Each costs a computation for every secret.


class DeliveryError(Exception):
    """A delivery that is not verified: respond with 401. The message has no value from the request and may be sent back."""

    def __init__(self, message: str, code: DeliveryProblem = "wrong_signature") -> None:
        super().__init__(message)
        self.code: DeliveryProblem = code


def is_known_event(event: AnyEvent) -> TypeGuard[BrandEvent]:
    """Returns whether this version knows the event's type. After it, `event["type"] == …` narrows `event["data"]`."""
    return event["type"] in EVENT_TYPES


def verify_delivery(
    raw_body: Body, headers: Headers, secrets: Secrets, *, tolerance: float = 300, now: float | None = None, header_word: str = "Service"
) -> AnyEvent:
    """Returns the event of a delivery that the service signed, with either of its two signatures, by one of the secrets, lately.

    Compares in constant time. The event may have come before: process each `event["id"]` once. It may be of an unknown type: see
    `is_known_event`. Raises DeliveryError if it is not verified; ValueError if a secret is none; TypeError if the body was parsed.

    :param raw_body: the bytes as they came. A body that was parsed and written again has others
    :param tolerance: seconds by which a timestamp may differ from the clock, either way
    :param header_word: word in the names of the service's own headers
    """
    keys, header = _read_secrets(secrets), _HeaderReader(headers)
    body = raw_body.encode() if isinstance(raw_body, str) else bytes(memoryview(raw_body))
    type_name = f"X-{header_word}-Event"
    signatures = [*header.own(f"X-{header_word}-Signature", type_name, f"X-{header_word}-Timestamp"), *header.standard()]
    if not signatures:
        raise DeliveryError(f"neither X-{header_word}-Signature nor webhook-signature", "missing_header")
    clock = time.time() if now is None else now
    if not all(abs(clock - int(timestamp)) <= tolerance for timestamp, *_ in signatures):
        raise DeliveryError(f"the timestamp is more than {tolerance:g} s from this receiver's clock", "timestamp_outside_window")
    # Every digest is compared with that of every secret, also after one that is right.
    if not any([_is_signed(body, signature, secret) for signature in signatures for secret in keys]):  # noqa: C419
        raise DeliveryError("no secret made this signature over these bytes", "wrong_signature")
    event = _read_event(body)
    for name, signed in ((type_name, event["type"]), ("webhook-id", event["id"])):
        if header.get(name) not in (None, signed):
            raise DeliveryError(f"{name} differs from the signed body", "header_mismatch")
    return event


def _is_signed(body: bytes, signature: _Signature, secret: str) -> bool:
    """The service's own is keyed with the secret as it was shown, that of Standard Webhooks with the bytes that it encodes."""
    _, is_own, start, digest = signature
    key = secret.encode() if is_own else base64.b64decode(secret.removeprefix("whsec_"))
    return hmac.compare_digest(hmac.digest(key, start.encode() + body, hashlib.sha256), digest)


class _HeaderReader:
    def __init__(self, headers: Headers) -> None:
        self._values: dict[str, list[str]] = {}
        # Repeated headers are pairs in Starlette, and a list in others.
        items: Any = getattr(headers, "items", lambda: headers)
        for name, value in items():
            values = value if isinstance(value, (list, tuple)) else [value]
            self._values.setdefault(name.lower(), []).extend(values)

    def get(self, name: str) -> str | None:
        values = self._values.get(name.lower(), [])
        if len(values) > 1:
            raise DeliveryError(f"{name} is malformed", "malformed_header")
        return values[0] if values else None

    def required(self, name: str, form: str = ".*") -> str:
        if (value := self.get(name)) is None:
            raise DeliveryError(f"{name} is missing", "missing_header")
        if re.fullmatch(form, value, re.DOTALL) is None:
            raise DeliveryError(f"{name} is malformed", "malformed_header")
        return value

    def own(self, name: str, type_name: str, timestamp_name: str) -> list[_Signature]:
        """`sha256=` and hexadecimal digits, over `timestamp.body`."""
        if self.get(name) is None:
            return []
        self.required(type_name)
        timestamp = self.required(timestamp_name, "[0-9]{1,12}")
        digest = self.required(name, "sha256=[0-9a-f]{64}").removeprefix("sha256=")
        return [(timestamp, True, f"{timestamp}.", bytes.fromhex(digest))]

    def standard(self) -> list[_Signature]:
        """`v1,` and base64, over `id.timestamp.body`; several during a rotation. Those of versions to come are skipped."""
        if (value := self.get("webhook-signature")) is None:
            return []
        start = f"{self.required('webhook-id')}.{(timestamp := self.required('webhook-timestamp', '[0-9]{1,12}'))}."
        matches = [re.fullmatch("v1,([A-Za-z0-9+/]{43}=)", each) for each in value.split(" ")]
        found = [match[1] for match in matches if match]
        if not 0 < len(found) <= SIGNATURES_MAX:
            raise DeliveryError("webhook-signature is malformed", "malformed_header")
        return [(timestamp, False, start, base64.b64decode(digest)) for digest in found]


def _read_secrets(secrets: Secrets) -> list[str]:
    """Raises ValueError without the text: a log may keep it."""
    present = " ".join([secrets] if isinstance(secrets, str) else list(secrets or [])).replace(",", " ").split()
    if not present:
        raise ValueError("there is no signing secret: give the receiver's, whsec_…")
    if not all(re.fullmatch("whsec_[A-Za-z0-9+/]{43}=", secret) for secret in present):
        raise ValueError("a signing secret must be whole, as it was shown: whsec_ and base64")
    return present


def _read_event(body: bytes) -> AnyEvent:
    try:
        event = json.loads(body.decode(), parse_constant=int)  # NaN and the infinities are not JSON's: int refuses them.
    except (ValueError, RecursionError):
        raise DeliveryError("the body is not JSON in UTF-8", "invalid_body") from None
    types = {name: type(event.get(name)) for name in ("id", "type", "data")} if isinstance(event, dict) else {}
    if types != {"id": str, "type": str, "data": dict}:
        raise DeliveryError("the body is not an event: it lacks id, type or data", "invalid_body")
    return cast("AnyEvent", event)
