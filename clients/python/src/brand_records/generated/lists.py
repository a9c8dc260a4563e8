# Written by `npm run client-types` from the served OpenAPI description. Do not edit.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..record_list import RecordList
    from . import api


class Lists:
    """A method for each list, with its filters and records."""

    def list(self, resource: api.ResourceName, **options: Any) -> RecordList[Any]:
        """Lists any resource, by its name."""
        raise NotImplementedError

    def campaigns(self, **options: Unpack[api.CampaignFilters]) -> RecordList[api.Campaign]:
        """A campaign the brand runs with creators: what it pays for, its budget and how much has been paid out."""

        return self.list("campaigns", **options)

    def submissions(self, **options: Unpack[api.SubmissionFilters]) -> RecordList[api.Submission]:
        """A piece of content that a creator handed in for a campaign, and its review."""

        return self.list("submissions", **options)

    def payouts(self, **options: Unpack[api.PayoutFilters]) -> RecordList[api.Payout]:
        """Money that is on its way to one creator, or has arrived, for one campaign."""

        return self.list("payouts", **options)

    def deposits(self, **options: Unpack[api.DepositFilters]) -> RecordList[api.Deposit]:
        """Money the brand paid in, for one campaign or for its balance."""

        return self.list("deposits", **options)

    def conversions(self, **options: Unpack[api.ConversionFilters]) -> RecordList[api.Conversion]:
        """An order that came through a creator's tracked link, and the commission on it."""

        return self.list("conversions", **options)

    def links(self, **options: Unpack[api.LinkFilters]) -> RecordList[api.Link]:
        """A creator's tracked link into the brand's shop."""

        return self.list("links", **options)
