"""One promise: a call ends in time, with what the service says. test/clients/behaviour has what all clients do."""

from __future__ import annotations

import pickle
import threading
from datetime import date, datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx
import pytest
from conftest import Reply, Request, Service, page, refusal

from brand_records import BrandRecords, BrandRecordsError
from brand_records.errors import advice_for
from brand_records.response_meta import read_retry_after
from brand_records.transport import retry_delay

KEY = "brk_live_x"


def client(service: Service, **options: object) -> BrandRecords:
    return BrandRecords(service.url, KEY, **options)  # type: ignore[arg-type]


class TestFilters:
    def test_times_are_sent_in_utc(self, service: Service) -> None:
        manila = timezone(timedelta(hours=8))
        with client(service) as records:
            found = records.payouts(status="paid", created_from=datetime(2026, 10, 1, 0, 0, 0, 123456, manila), campaign_id=None, limit=3)
            assert list(found) == []
        assert service.received[0].query == {"limit": "3", "status": "paid", "created_from": "2026-09-30T16:00:00.123456Z"}

    def test_a_time_without_a_zone_is_refused_before_anything_is_sent(self, service: Service) -> None:
        with client(service) as records, pytest.raises(ValueError, match="created_before must have a time zone"):
            records.payouts(created_before=datetime(2026, 10, 1))

    @pytest.mark.parametrize("value", [date(2026, 10, 1), 1.5, True])
    def test_other_values_are_refused(self, service: Service, value: object) -> None:
        with client(service) as records, pytest.raises(TypeError, match="id must be text or a datetime"):
            records.list("payouts", id=value)


class TestPages:
    def test_goes_on_from_a_cursor(self, service: Service) -> None:
        def respond(request: Request, _: object) -> Reply:
            after = int(request.query.get("cursor", "0"))
            limits = {"RateLimit-Policy": '"brand";q=60;w=60', "RateLimit": '"brand";r=41;t=17'}
            return page("payouts", [f"po_{after}"], str(after + 1) if after < 3 else None, **limits)

        service.respond = respond
        with client(service) as records:
            assert [record["id"] for record in records.payouts()] == ["po_0", "po_1", "po_2", "po_3"]
            first = records.payouts().page()
            assert first.next_cursor == "1"
            assert first.meta.rate_limit == (60, 60, 41, 17)
            rest = records.payouts(cursor=first.next_cursor)
            assert [[record["id"] for record in each.data] for each in rest.pages()] == [["po_1"], ["po_2"], ["po_3"]]

    def test_a_list_requests_nothing_until_it_is_read(self, service: Service) -> None:
        with client(service) as records:
            records.campaigns().pages()
        assert service.received == []


class TestPlans:
    def test_dates_and_a_missing_request_id_are_written(self, service: Service) -> None:
        service.respond = lambda *_: Reply({"plan_id": "pln_1"}, 201, {"X-Brand-Id": "brd_1"})
        with client(service) as records:
            plan = records.prepare_campaign_plan(
                title="Clips",
                goal="Views",
                campaign_type="blitz",
                planned_for=date(2026, 12, 1),
                review_on="2026-12-15",
                planning_budget=1234567.89,
            )
        assert plan["plan_id"] == "pln_1"
        body = httpx.Response(200, content=service.received[0].body).json()
        assert body == {
            "title": "Clips",
            "goal": "Views",
            "campaign_type": "blitz",
            "planned_for": "2026-12-01",
            "review_on": "2026-12-15",
            "planning_budget": 1234567.89,
            "request_id": body["request_id"],
        }
        assert len(body["request_id"]) == 36

    def test_a_failed_call_has_the_request_id(self, service: Service) -> None:
        service.respond = lambda *_: refusal(409, "request_conflict")
        with client(service) as records, pytest.raises(BrandRecordsError) as failed:
            records.prepare_campaign_plan(
                title="t",
                goal="g",
                campaign_type="ugc",
                planned_for="2026-12-01",
                review_on="2026-12-02",
                planning_budget=1,
                request_id="r",
            )
        assert (failed.value.code, failed.value.plan_request_id, failed.value.is_temporary) == ("request_conflict", "r", False)


class TestDeadlines:
    @pytest.mark.parametrize(
        ("head", "each"),
        [
            (b"HTTP/1.1 200 OK\r\nX-Brand-Id: brd_1\r\nContent-Length: 100000\r\n\r\n", b" "),
            (b"HTTP/1.1 200 OK\r\nX-Long: ", b"x"),
            (b"", b""),
        ],
        ids=["a body that comes byte by byte", "a head that comes byte by byte", "nothing"],
    )
    def test_end_a_call_although_no_single_read_is_late(self, service: Service, head: bytes, each: bytes) -> None:
        """The server goes on until the call has ended."""
        ended = threading.Event()

        def respond(_: Request, handler: BaseHTTPRequestHandler) -> None:
            handler.wfile.write(head)
            while not ended.wait(0.05):
                handler.wfile.write(each)

        service.respond = respond
        with client(service, deadline=0.5, timeout=60) as records, pytest.raises(BrandRecordsError) as failed:
            records.payouts().page()
        ended.set()
        assert (failed.value.code, failed.value.status, failed.value.attempts) == ("no_response", None, 1)

    def test_what_the_service_said_before_the_request_that_the_deadline_cut_short(self, service: Service) -> None:
        ended = threading.Event()

        def respond(*_: object) -> Reply | None:
            return refusal(503, "unavailable") if len(service.received) == 1 or ended.wait(30) else None

        service.respond = respond
        # Well after the longest first pause, half a second.
        with client(service, deadline=2) as records, pytest.raises(BrandRecordsError) as failed:
            records.payouts().page()
        ended.set()
        assert (failed.value.code, failed.value.attempts) == ("unavailable", 2)

    def test_a_key_function_that_does_not_end(self, service: Service) -> None:
        ended = threading.Event()
        records = BrandRecords(service.url, lambda: str(ended.wait(30)), deadline=0.3)
        with records, pytest.raises(BrandRecordsError, match="no key: the key function returned none within") as failed:
            records.payouts().page()
        ended.set()
        assert (failed.value.code, failed.value.attempts) == ("no_response", 0)
        assert service.received == []

    @pytest.mark.parametrize("value", [float("nan"), 0, -1, None, "20"])
    def test_a_time_that_is_none_is_refused(self, service: Service, value: Any) -> None:
        for name in ("timeout", "deadline"):
            with pytest.raises(ValueError, match=f"{name} must be a number of seconds above 0"):
                client(service, **{name: value})
        with client(service) as records:
            with pytest.raises(ValueError, match="deadline must be"):
                records.payouts(deadline=value)
            with pytest.raises(ValueError, match="deadline must be"):
                records.prepare_campaign_plan(**{"title": "t", "deadline": value})
        assert service.received == []

    @pytest.mark.parametrize("value", [float("inf"), 10**400, 0.5])
    def test_any_other_may_be_as_long_as_it_likes(self, service: Service, value: float) -> None:
        with BrandRecords(service.url, lambda: KEY, timeout=value, deadline=value) as records:
            assert list(records.payouts(deadline=value)) == []

    @pytest.mark.parametrize(("status", "retry_after", "requests"), [(429, None, 8), (429, 0, 8), (429, 1, 7), (503, 1, 7), (429, 7, 4)])
    def test_a_storm(self, status: int, retry_after: float | None, requests: int) -> None:
        """At most so many requests in 30 s, by the least pauses."""
        error = BrandRecordsError("m", status=status, retry_after=retry_after)
        times = [sum(retry_delay(error, failures, 0) for failures in range(count)) for count in range(9)]
        assert sum(at <= 30 for at in times) == requests
        assert retry_delay(error, 50, 1) == 20 + (retry_after or 0)


class TestErrors:
    def test_has_what_the_service_says_and_can_be_pickled(self, service: Service) -> None:
        detail = {"field": "title", "message": "is empty"}
        error = {"code": "invalid_request", "message": "m", "field": "title", "details": [detail, 1, {}], "docs_url": "https://d.example"}
        service.respond = lambda *_: Reply({"error": error}, 400, {"X-Brand-Id": "brd_1", "X-Request-Id": "req_2"})
        with client(service) as records, pytest.raises(BrandRecordsError, match="m") as failed:
            records.payouts().page()
        for error_ in (failed.value, pickle.loads(pickle.dumps(failed.value))):
            assert (error_.code, error_.status, error_.field, error_.details) == ("invalid_request", 400, "title", [detail])
            assert (error_.docs_url, error_.request_id, error_.brand_id) == ("https://d.example", "req_2", "brd_1")
            assert error_.attempts == 1

    @pytest.mark.parametrize(
        "url", [None, "", "records.example", "ftp://x.example", "http://[x", "https://u:p@x.example", "https://x/?a=1"]
    )
    def test_an_address_that_is_none_is_refused_without_its_text(self, url: str | None) -> None:
        with pytest.raises(ValueError, match="url must be") as refused:
            BrandRecords(url, KEY)
        assert "u:p" not in str(refused.value)

    def test_an_address_may_have_white_space_around_it(self, service: Service) -> None:
        with BrandRecords(f" {service.url}/ \n", KEY) as records:
            assert list(records.payouts()) == []

    @pytest.mark.parametrize("key", [None, "", "brk live", "schlüssel"])
    def test_a_key_that_is_none_is_refused_without_its_text(self, key: str | None) -> None:
        with pytest.raises(ValueError, match="key must be an API key") as refused:
            BrandRecords("https://records.example", key)
        assert "schl" not in str(refused.value)

    def test_an_unknown_host_fails_at_once_and_a_name_server_that_is_away_does_not(self) -> None:
        import socket

        def failed(errno: int) -> BaseException:
            error = httpx.ConnectError("m")
            error.__cause__ = socket.gaierror(errno, "m")
            return error

        url = httpx.URL("https://records.example")
        assert "no such host" in str(advice_for(failed(socket.EAI_NONAME), url))
        assert advice_for(failed(socket.EAI_AGAIN), url) is None

    def test_a_given_client_is_used_and_left_open(self, service: Service) -> None:
        with httpx.Client(headers={"X-Program": "copy"}, follow_redirects=True) as http:
            service.respond = lambda *_: Reply(None, 302, {"Location": "/elsewhere"})
            with client(service, http=http) as records, pytest.raises(BrandRecordsError, match="redirects to /elsewhere"):
                records.links().page()
            assert not http.is_closed
        assert [request.headers["x-program"] for request in service.received] == ["copy"]


SENT_AT = "Sat, 21 Nov 2026 08:30:00 GMT"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7),
        ("86401", 86_400),
        ("9" * 5_000, 86_400),
        ("Sat, 21 Nov 2026 08:31:00 GMT", 60),
        ("Saturday, 21-Nov-26 08:31:00 GMT", 60),
        ("Sat Nov 21 08:31:00 2026", 60),
        ("Tue Dec  1 08:30:00 2026", 86_400),
        ("Sat, 21 Nov 2026 08:31:60 GMT", 119),
        ("Sat, 21 Nov 2026 08:00:00 GMT", 0),
        ("-1", None),
        ("1.5", None),
        ("1e1", None),
        ("2, 3", None),
        ("+5", None),
        ("٣", None),
        ("2026-11-21", None),
        ("1 week", None),
        ("Sat, 31 Nov 2026 08:31:00 GMT", None),
        ("Sat, 21 Foo 2026 08:31:00 GMT", None),
        ("Sat, 21 Nov 2026 25:31:00 GMT", None),
        ("Sat, 21 Nov 2026 08:31:00 +0800", None),
        ("", None),
    ],
)
def test_reads_retry_after(text: str, seconds: float | None) -> None:
    assert read_retry_after({"Retry-After": text, "Date": SENT_AT}) == seconds
