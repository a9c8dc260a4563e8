import json
import platform
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from importlib.metadata import version
from time import monotonic
from typing import Any, NamedTuple, TypeVar

import httpx

from .errors import BrandRecordsError
from .response_meta import ResponseMeta, read_retry_after, response_meta

USER_AGENT = f"brand-records-python/{version('brand-records')} ({platform.python_implementation()}/{platform.python_version()})"
NO_BRAND = "no X-Brand-Id: is url the service's address?"
Result = TypeVar("Result")
Answer = tuple[Any, ResponseMeta]  # the JSON of a body, and what its headers say


class Request(NamedTuple):
    method: str
    path: str  # below the service's address, with the query
    is_whole: Callable[[Any], bool]  # whether the body of a successful response has everything
    body: bytes | None = None  # JSON


def exchange(http: httpx.Client, url: str, request: Request, key: str, seconds: float) -> Answer:
    """Returns a whole, successful response. Raises BrandRecordsError otherwise, in time, also if the response comes byte by byte."""
    headers = {"Accept": "application/json", "Authorization": f"Bearer {key}", "User-Agent": USER_AGENT}
    headers |= {"Content-Type": "application/json"} if request.body else {}
    # The API has no redirects, and a key must not follow one to another host.
    options: dict[str, Any] = {"headers": headers, "content": request.body, "timeout": seconds, "follow_redirects": False}
    stops_at, begun = monotonic() + seconds, list[httpx.Response]()

    def read() -> bytes:
        with http.stream(request.method, url + request.path, **options) as response:
            begun.append(response)
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                if monotonic() > stops_at:
                    raise TimeoutError
            return bytes(body)

    try:
        body = within(seconds, read)
    except (httpx.HTTPError, OSError) as error:
        meta = response_meta(0, begun[0].headers if begun else {})
        message = f"no complete response: {str(error) or type(error).__name__}"
        raise BrandRecordsError(message, "no_response", brand_id=meta.brand_id, request_id=meta.request_id) from error
    return _read(request, begun[0], body)


def require_seconds(name: str, value: object) -> float:
    """Returns the seconds, at most 23 days, as threads and sockets overflow. Raises ValueError unless above 0: NaN would never end."""
    if not isinstance(value, (int, float)) or not value > 0:
        raise ValueError(f"{name} must be a number of seconds above 0")
    return min(value, 2_000_000.0)


def within(seconds: float, work: Callable[[], Result]) -> Result:
    """Returns what the work returns. Raises TimeoutError after the seconds: httpx's are for each read, and looking up a name has none."""
    future, context = Future[Result](), copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="brand-records", daemon=True).start()
    if not wait([future], max(0.0, seconds)).done:
        raise TimeoutError(f"none within {seconds:.3g} s")
    return future.result()


def _read(request: Request, response: httpx.Response, content: bytes) -> Answer:
    meta = response_meta(response.status_code, response.headers)
    try:
        body = json.loads(content.decode())
    except (ValueError, RecursionError):
        body = None
    fields: dict[str, Any] = {"status": meta.status, "brand_id": meta.brand_id, "request_id": meta.request_id}
    if response.is_success:
        if request.is_whole(body):
            return body, meta
        # With the end of the body, records may be missing. Without the header, it is no response of the service.
        code, problem = ("unexpected_response", NO_BRAND) if meta.brand_id is None else ("no_response", "the body is not whole.")
        raise BrandRecordsError(f"HTTP {meta.status}: {problem}", code, **fields)
    fields["retry_after"] = read_retry_after(response.headers)
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict) or not isinstance(error.get("code"), str):
        advice = f"; it redirects to {response.headers['Location']}: is url right?" if "Location" in response.headers else ""
        raise BrandRecordsError(f"HTTP {meta.status} without an error of the service{advice}", **fields)
    fields |= {name: error[name] for name in ("field", "docs_url", "request_id") if isinstance(error.get(name), str)}
    details = error["details"] if isinstance(error.get("details"), list) else []
    fields["details"] = [each for each in details if isinstance(each, dict) and {"field", "message"} <= each.keys()]
    raise BrandRecordsError(str(error.get("message", error["code"])), error["code"], **fields)
