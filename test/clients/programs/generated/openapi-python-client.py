# An integrator's program with the client of openapi-python-client. Prints what it reads as JSON.
import datetime
import json
import os
import uuid

from brand_records import AuthenticatedClient
from brand_records.api.assistants import post_assistant_message
from brand_records.api.campaign_plans import prepare_campaign_plan
from brand_records.api.records import (
    list_campaigns,
    list_conversions,
    list_deposits,
    list_links,
    list_payouts,
    list_submissions,
)
from brand_records.models import (
    CampaignPlanInput,
    CampaignPlanInputCampaignType,
    CampaignSettledEvent,
    PayoutPaidEvent,
    RpcMessage,
    SubmissionApprovedEvent,
    SubmissionRejectedEvent,
)
from brand_records.types import UNSET

LISTS = {
    "campaigns": list_campaigns,
    "submissions": list_submissions,
    "payouts": list_payouts,
    "deposits": list_deposits,
    "conversions": list_conversions,
    "links": list_links,
}
EVENTS = {
    "submission.approved": SubmissionApprovedEvent,
    "submission.rejected": SubmissionRejectedEvent,
    "payout.paid": PayoutPaidEvent,
    "campaign.settled": CampaignSettledEvent,
}


def client_with(key):
    return AuthenticatedClient(base_url=os.environ["BASE_URL"], token=key)


reader = client_with(os.environ["READING_KEY"])


def read_all(operation):
    found = []
    cursor = UNSET
    while True:
        page = operation.sync(client=reader, limit=20, cursor=cursor)
        found += [record.to_dict() for record in page.data]
        cursor = page.next_cursor
        if not cursor:
            return found


records = {name: read_all(operation) for name, operation in LISTS.items()}

with open(os.environ["EVENTS"], encoding="utf-8") as file:
    bodies = [json.loads(line) for line in file]
events = [EVENTS[body["type"]].from_dict(body).to_dict() for body in bodies]

refused = []
for key, cursor in [(os.environ["READING_KEY"], "x" * 40), ("none", UNSET)]:
    response = list_payouts.sync_detailed(client=client_with(key), cursor=cursor)
    refused.append({"status": response.status_code, "code": response.parsed.error.code})

plan = CampaignPlanInput(
    request_id=uuid.UUID(os.environ["REQUEST_ID"]),
    title="Tag-ulan",
    goal="500,000 views",
    campaign_type=CampaignPlanInputCampaignType.BLITZ,
    planned_for=datetime.date(2026, 12, 1),
    review_on=datetime.date(2026, 12, 15),
    planning_budget=1234567.89,
)
planner = client_with(os.environ["PLANNING_KEY"])
budgets = []
for attempt in range(2):
    response = prepare_campaign_plan.sync_detailed(client=planner, body=plan)
    budgets.append({"status": response.status_code, "planning_budget": response.parsed.planning_budget})

pong = post_assistant_message.sync(client=reader, body=RpcMessage(jsonrpc="2.0", id=7, method="ping"))

print(json.dumps({"records": records, "events": events, "refused": refused, "budgets": budgets, "ponged": pong.id}))
