# An integrator's program with the generated client. Prints its results as JSON, with exact amounts as strings.
import datetime
import json
import os
import uuid

from brand_records import AuthenticatedClient
from brand_records.api.assistants import post_assistant_message
from brand_records.api.campaign_plans import prepare_campaign_plan
from brand_records.api.records import list_payouts
from brand_records.models import CampaignPlanInput, CampaignPlanInputCampaignType, RpcMessage
from brand_records.types import UNSET


def client_with(key):
    return AuthenticatedClient(base_url=os.environ["BASE_URL"], token=key)


reader = client_with(os.environ["READING_KEY"])

payouts = []
pages = 0
cursor = UNSET
while True:
    page = list_payouts.sync(client=reader, limit=2, cursor=cursor)
    payouts += page.data
    pages += 1
    cursor = page.next_cursor
    if not cursor:
        break

refused = []
for key, cursor in [(os.environ["READING_KEY"], "x"), ("none", UNSET)]:
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
    budgets.append({"status": response.status_code, "planning_budget": str(response.parsed.planning_budget)})

pong = post_assistant_message.sync(client=reader, body=RpcMessage(jsonrpc="2.0", id=7, method="ping"))

print(
    json.dumps(
        {
            "pages": pages,
            "payouts": [
                {"id": payout.id, "amount": str(payout.amount_centavos), "status": payout.status, "failure_code": payout.failure_code}
                for payout in payouts
            ],
            "refused": refused,
            "budgets": budgets,
            "ponged": pong.id,
        }
    )
)
