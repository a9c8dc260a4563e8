"""One promise: only what the service signed, unchanged and lately, is an event. Signatures are made without the package's code."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets as random
import time
from typing import Any

import pytest

from brand_records import DeliveryError, is_known_event, verify_delivery


def new_secret() -> str:
    return f"whsec_{base64.b64encode(random.token_bytes(32)).decode()}"


SECRET, NEXT, OTHER = new_secret(), new_secret(), new_secret()
NOW = 1_795_227_310
ID = "evt_01m7e9rkgsf6p8ke7n67az5qq0"

Sent = dict[str, Any]


def event_body(**fields: object) -> str:
    return json.dumps({"id": ID, "type": "payout.paid", "data": {"id": "po_1", "amount_centavos": 9_007_199_254_740_991}, **fields})


BODY = event_body()


def mac(key: str | bytes, text: str | bytes) -> bytes:
    key, text = (each.encode() if isinstance(each, str) else each for each in (key, text))
    return hmac.new(key, text, hashlib.sha256).digest()


def decoded(secret: str) -> bytes:
    return base64.b64decode(secret[6:])


def own(body: str = BODY, secret: str = SECRET, at: int | str = NOW) -> Sent:
    return {
        "x-service-event": "payout.paid",
        "x-service-timestamp": str(at),
        "x-service-signature": f"sha256={mac(secret, f'{at}.{body}').hex()}",
        "x-service-attempt": "1",
    }


def v1(body: str = BODY, secret: str = SECRET, at: int | str = NOW) -> str:
    return f"v1,{base64.b64encode(mac(decoded(secret), f'{ID}.{at}.{body}')).decode()}"


def standard(body: str = BODY, secret: str = SECRET, at: int | str = NOW) -> Sent:
    return {"webhook-id": ID, "webhook-timestamp": str(at), "webhook-signature": v1(body, secret, at)}


def both(body: str = BODY, secret: str = SECRET, at: int | str = NOW) -> Sent:
    return own(body, secret, at) | standard(body, secret, at)


def without(headers: Sent, *names: str) -> Sent:
    return {name: value for name, value in headers.items() if name not in names}


SIGNATURE = str(own()["x-service-signature"])


@pytest.mark.parametrize(
    ("headers", "secrets"),
    [
        (both(), SECRET),
        (own(), SECRET),
        (standard(), SECRET),
        (both(), [SECRET, NEXT]),
        (both(), f"{NEXT}, {SECRET},"),
        (own() | standard(secret=NEXT), NEXT),
        (standard() | {"webhook-signature": f"{v1(secret=NEXT)} {v1()}"}, SECRET),
        (standard() | {"webhook-signature": f"v2,abc {v1()} v1a,abc="}, SECRET),
        ({name.upper(): value for name, value in both().items()}, SECRET),
        (both(at=NOW - 300), SECRET),
        (both(at=NOW + 300), SECRET),
        (both() | {"set-cookie": ["a", "b"], "x-service-attempt": "10"}, SECRET),
    ],
)
def test_accepts(headers: Sent, secrets: str | list[str]) -> None:
    for given in (headers, list(headers.items())):
        assert verify_delivery(BODY, given, secrets, now=NOW) == json.loads(BODY)


def test_takes_every_form_of_bytes_and_the_machines_clock() -> None:
    content = BODY.encode()
    for body in (BODY, content, bytearray(content), memoryview(b".." + content)[2:]):
        assert verify_delivery(body, both(at=int(time.time())), SECRET)["id"] == ID


def test_another_word_in_the_header_names_and_another_tolerance() -> None:
    acme = {name.replace("service", "Acme"): value for name, value in own(at=NOW - 900).items()}
    assert verify_delivery(BODY, acme, SECRET, now=NOW, header_word="acme", tolerance=900)["id"] == ID
    with pytest.raises(DeliveryError, match="more than 899 s"):
        verify_delivery(BODY, acme, SECRET, now=NOW, header_word="acme", tolerance=899)


def test_an_event_of_a_type_to_come() -> None:
    body = event_body(type="link.disabled", mood=7)
    event = verify_delivery(body, standard(body), SECRET, now=NOW)
    assert event == json.loads(body)
    assert not is_known_event(event)
    assert is_known_event(verify_delivery(BODY, both(), SECRET, now=NOW))


@pytest.mark.parametrize(
    ("code", "headers", "body"),
    [
        ("missing_header", {}, BODY),
        ("missing_header", without(both(), "x-service-signature", "webhook-signature"), BODY),
        ("missing_header", without(both(), "x-service-timestamp"), BODY),
        ("missing_header", without(both(), "x-service-event"), BODY),
        ("missing_header", without(both(), "webhook-timestamp"), BODY),
        ("missing_header", without(both(), "webhook-id"), BODY),
        ("wrong_signature", both(secret=OTHER), BODY),
        ("wrong_signature", own() | {"x-service-signature": f"sha256={mac(decoded(SECRET), f'{NOW}.{BODY}').hex()}"}, BODY),
        ("wrong_signature", standard() | {"webhook-signature": v1(secret=SECRET[:6] + base64.b64encode(SECRET.encode()).decode())}, BODY),
        ("wrong_signature", both(), BODY.replace("991", "990")),
        ("wrong_signature", both(), f"{BODY}\n"),
        ("wrong_signature", own() | {"x-service-timestamp": str(NOW - 1)}, BODY),
        ("wrong_signature", standard() | {"webhook-timestamp": str(NOW - 1)}, BODY),
        ("wrong_signature", standard() | {"webhook-id": "evt_other"}, BODY),
        ("wrong_signature", own() | {"x-service-signature": SIGNATURE[:-1] + ("1" if SIGNATURE[-1] == "0" else "0")}, BODY),
        ("header_mismatch", own() | {"webhook-id": "evt_other"}, BODY),
        ("header_mismatch", both() | {"x-service-event": "campaign.settled"}, BODY),
        ("timestamp_outside_window", both(at=NOW - 301), BODY),
        ("timestamp_outside_window", both(at=NOW + 301), BODY),
        ("timestamp_outside_window", own(at=NOW - 301) | standard(), BODY),
        ("timestamp_outside_window", own() | standard(at=NOW - 301), BODY),
        ("malformed_header", own(at=f"0x{NOW:x}"), BODY),
        ("malformed_header", own(at=f"{NOW}e0"), BODY),
        ("malformed_header", own(at=f"+{NOW}"), BODY),
        ("malformed_header", own(at=NOW * 1_000), BODY),
        ("malformed_header", own(at="١٧٩٥٢٢٧٣١٠"), BODY),
        ("malformed_header", standard(at=f"{NOW}.0"), BODY),
        ("malformed_header", standard(at=""), BODY),
        ("malformed_header", standard(at=f"{NOW}\n"), BODY),
        ("malformed_header", own() | {"x-service-signature": SIGNATURE.removeprefix("sha256=")}, BODY),
        ("malformed_header", own() | {"x-service-signature": SIGNATURE.upper()}, BODY),
        ("malformed_header", own() | {"x-service-signature": SIGNATURE[:-1]}, BODY),
        ("malformed_header", own() | {"x-service-signature": f"{SIGNATURE}00"}, BODY),
        ("malformed_header", own() | {"x-service-signature": f"{SIGNATURE}\n"}, BODY),
        ("malformed_header", standard() | {"webhook-signature": f"a{v1()}"}, BODY),
        ("malformed_header", standard() | {"webhook-signature": f"{v1()}a"}, BODY),
        ("malformed_header", both() | {"x-service-signature": "sha256="}, BODY),
        ("malformed_header", both() | {"webhook-signature": "v1,"}, BODY),
        ("malformed_header", standard() | {"webhook-signature": "v2,abc"}, BODY),
        ("malformed_header", standard() | {"webhook-signature": " ".join([v1()] * 9)}, BODY),
        ("malformed_header", own() | {"x-service-signature": [SIGNATURE, "sha256="]}, BODY),
        ("malformed_header", own() | {"X-Service-Signature": SIGNATURE}, BODY),
        ("malformed_header", own() | {"x-service-timestamp": [str(NOW), str(NOW)]}, BODY),
        *(
            ("invalid_body", both(body), body)
            for body in (
                "{",
                "null",
                "[]",
                "NaN",
                "[" * 100_000,
                '{"type":"payout.paid","data":{}}',
                f'{{"id":"{ID}","data":{{}}}}',
                event_body(id=1),
                event_body(data=None),
                event_body(data="po_1"),
                event_body(amount=float("nan")),
                f"\ufeff{BODY}",
            )
        ),
    ],
)
def test_refuses(code: str, headers: Sent, body: str) -> None:
    with pytest.raises(DeliveryError) as refused:
        verify_delivery(body, headers, SECRET, now=NOW)
    assert refused.value.code == code
    # Sent back to anyone who asks.
    assert "whsec_" not in str(refused.value)


def test_refuses_a_signed_body_that_is_not_utf_8() -> None:
    body = event_body(note="ÿ").encode("latin-1").replace(b"\\u00ff", b"\xff")
    headers = own() | {"x-service-signature": f"sha256={mac(SECRET, str(NOW).encode() + b'.' + body).hex()}"}
    with pytest.raises(DeliveryError, match="not JSON in UTF-8"):
        verify_delivery(body, headers, SECRET, now=NOW)


def test_compares_in_constant_time_every_digest_with_every_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    compare = hmac.compare_digest

    def recorded(one: bytes, other: bytes) -> bool:
        compared.append(one)
        return compare(one, other)

    monkeypatch.setattr(hmac, "compare_digest", recorded)
    verify_delivery(BODY, both() | {"webhook-signature": f"{v1()} {v1(secret=NEXT)}"}, [SECRET, NEXT], now=NOW)
    # The own signature and two others, with two secrets.
    assert len(compared) == 6


@pytest.mark.parametrize(
    "secrets",
    [None, "", " , ", [], "whsec_", "whsec_AAAA", SECRET[6:], f"{SECRET}x", SECRET[:-4], [SECRET, "mine"], SECRET.replace("_", "_\n")],
)
def test_secrets_that_are_none_are_a_mistake_of_the_program_that_no_log_shows(secrets: Any) -> None:
    with pytest.raises(ValueError, match="signing secret") as refused:
        verify_delivery(BODY, both(), secrets, now=NOW)
    assert SECRET[6:20] not in str(refused.value)


def test_a_body_that_was_parsed_is_a_mistake_of_the_program() -> None:
    with pytest.raises(TypeError):
        verify_delivery(json.loads(BODY), both(), SECRET, now=NOW)
