import json
import uuid
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, cast

import httpx

from .errors import BrandRecordsError
from .exchange import Request, require_seconds
from .generated.api import CampaignPlan, CampaignPlanInput, ResourceName
from .generated.lists import Lists
from .record_list import RecordList
from .sync import OnPage, SyncStore, Walk
from .transport import Key, OnRetry, Transport

if TYPE_CHECKING:
    from typing_extensions import Unpack


class BrandRecords(Lists, AbstractContextManager["BrandRecords"]):
    """One brand's records, by one of its API keys: `with BrandRecords(url, key) as records`. Threads may share it.

    Requests wait out the brand's limit, and are repeated if they fail in passing, until their deadline. Money is in whole centavos.
    """

    def __init__(
        self,
        url: str | None,
        key: Key,
        *,
        expect_brand: str | None = None,
        timeout: float = 20,
        deadline: float = 120,
        http: httpx.Client | None = None,
        on_retry: OnRetry = lambda _: None,
    ) -> None:
        """Makes a client, which requests nothing yet. Raises ValueError if `url` or `key` is none, as a missing setting is, or a time.

        :param key: a function is asked for every request, and again if the key is refused: a key that is replaced in a file is used at once
        :param expect_brand: the brand whose key it should be, `brd_…`. A response of another is refused, and no plan is sent with its key
        :param timeout: seconds until a request that is not complete is sent again
        :param deadline: seconds for a page or a plan, with all repetitions, waits and calls of `key`
        :param http: for another proxy or certificate authority than those of the environment. Its timeouts are not used
        """
        self._transport = Transport(url, key, timeout, http, on_retry)
        self._expect_brand, self._deadline = expect_brand, require_seconds("deadline", deadline)

    def close(self, *_: object) -> None:
        """Closes the connections, but not those of a given `http`."""
        self._transport.close()

    __exit__ = close

    def list(self, resource: ResourceName, **options: Any) -> RecordList[Any]:
        return RecordList(self._transport, resource, {"deadline": self._deadline, **options}, self._expect_brand)

    def prepare_campaign_plan(self, **fields: "Unpack[CampaignPlanInput]") -> CampaignPlan:
        """Prepares a campaign plan, which people complete at its `review_path`. Needs a key with `campaigns:prepare`.

        However often the request is repeated, there is one plan for a `request_id`. Without one, the call makes it: if it fails, call again
        with `error.plan_request_id` and the same fields. A program that may be restarted makes and stores its own before the call.
        """
        given: dict[str, Any] = {**fields, "request_id": fields.get("request_id") or str(uuid.uuid4())}
        deadline = require_seconds("deadline", given.pop("deadline", self._deadline))
        # Written once: every repetition sends these bytes. `str` writes a date as the service reads it.
        content = json.dumps(given, default=str).encode()
        request = Request("POST", "/api/v1/campaign-plans", lambda body: isinstance(body, dict) and "plan_id" in body, content)
        try:
            return cast("CampaignPlan", self._transport.send(request, deadline, self._expect_brand)[0])
        except BrandRecordsError as error:
            error.plan_request_id = given["request_id"]
            raise

    def sync(self, store: SyncStore, *, share: float = 0.5, deadline: float = 600, on_page: OnPage = lambda _: None) -> str:
        """Copies every list into a store, and goes on with a walk that was interrupted. Run it each night.

        Returns when the walk began: the copy is as of then, or later. Raises BrandRecordsError also if the copy is of another brand.

        :param share: of the brand's limit, which the walk uses at most: the rest is left to the brand's other programs
        :param deadline: seconds for a page: an interrupted walk loses nothing, but needs another run
        :param on_page: called after each page is written
        """
        return Walk(self._transport, store, share, deadline, on_page).run(self._expect_brand)
