from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from .exchange import Request, require_seconds
from .generated.api import ResourceName
from .response_meta import ResponseMeta
from .transport import Transport

RecordT = TypeVar("RecordT")


@dataclass(frozen=True)
class Page(Generic[RecordT]):
    """One page of a list, newest record first. The records are as the service sent them: what this version does not know is kept."""

    data: list[RecordT]
    next_cursor: str | None  # where the next page starts; None on the last. It does not expire, and holds for any key of the brand
    meta: ResponseMeta


class RecordList(Generic[RecordT]):
    """A list of records. It requests nothing until it is read: all of it by iterating, page by page with `pages()`, or one `page()`.

    A walk has every record that existed when it began once, whatever is created meanwhile.
    """

    def __init__(self, transport: Transport, resource: ResourceName, options: Mapping[str, Any], expect_brand: str | None) -> None:
        given: dict[str, Any] = {"limit": 200, **options}
        self._transport, self._resource, self._expect_brand = transport, resource, expect_brand
        self._cursor, self._deadline = given.pop("cursor", None), require_seconds("deadline", given.pop("deadline"))
        self._query = {name: _query_text(name, value) for name, value in given.items() if value is not None}

    def page(self) -> Page[RecordT]:
        """Reads the first page, or the one at `cursor`."""
        return self._read_page(self._cursor, self._expect_brand)

    def pages(self) -> Iterator[Page[RecordT]]:
        """Reads page after page, to the last. All are of one brand, also if the key is replaced by another brand's."""
        yield (page := self.page())
        brand = self._expect_brand or page.meta.brand_id
        while page.next_cursor is not None:
            yield (page := self._read_page(page.next_cursor, brand))

    def __iter__(self) -> Iterator[RecordT]:
        for page in self.pages():
            yield from page.data

    def _read_page(self, cursor: str | None, brand: str | None) -> Page[RecordT]:
        query = urlencode(self._query if cursor is None else {**self._query, "cursor": cursor})
        request = Request("GET", f"/api/v1/{self._resource}?{query}", self._is_page)
        body, meta = self._transport.send(request, self._deadline, brand)
        return Page(body["data"], body.get("next_cursor"), meta)

    def _is_page(self, body: Any) -> bool:
        return isinstance(body, dict) and body.get("resource") == self._resource and isinstance(body.get("data"), list)


def _query_text(name: str, value: object) -> str:
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise ValueError(f"{name} must have a time zone: this datetime has none")
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return str(value)
    raise TypeError(f"{name} must be text or a datetime, not {type(value).__name__}")
