# An integrator's program with openapi-generator's client for Python. Prints what it reads as JSON.
import datetime
import json
import os
import uuid

from brand_records import (
    ApiClient,
    ApiException,
    AssistantsApi,
    CampaignPlanInput,
    CampaignPlansApi,
    CampaignSettledEvent,
    Configuration,
    PayoutPaidEvent,
    RecordsApi,
    RpcMessage,
    RpcMessageId,
    SubmissionApprovedEvent,
    SubmissionRejectedEvent,
)

EVENTS = {
    "submission.approved": SubmissionApprovedEvent,
    "submission.rejected": SubmissionRejectedEvent,
    "payout.paid": PayoutPaidEvent,
    "campaign.settled": CampaignSettledEvent,
}


def client_with(key):
    return ApiClient(Configuration(host=os.environ["BASE_URL"], access_token=key))


reader = client_with(os.environ["READING_KEY"])
api = RecordsApi(reader)


def read_all(operation):
    found = []
    cursor = None
    while True:
        page = operation(limit=20, cursor=cursor)
        found += [json.loads(record.to_json()) for record in page.data]
        cursor = page.next_cursor
        if cursor is None:
            return found


records = {
    "campaigns": read_all(api.list_campaigns),
    "submissions": read_all(api.list_submissions),
    "payouts": read_all(api.list_payouts),
    "deposits": read_all(api.list_deposits),
    "conversions": read_all(api.list_conversions),
    "links": read_all(api.list_links),
}

with open(os.environ["EVENTS"], encoding="utf-8") as file:
    bodies = file.readlines()
events = [json.loads(EVENTS[json.loads(body)["type"]].from_json(body).to_json()) for body in bodies]

refused = []
for key, cursor in [(os.environ["READING_KEY"], "x" * 40), ("none", None)]:
    try:
        RecordsApi(client_with(key)).list_payouts(cursor=cursor)
    except ApiException as error:
        refused.append({"status": error.status, "code": error.data.error.code})

plan = CampaignPlanInput(
    request_id=uuid.UUID(os.environ["REQUEST_ID"]),
    title="Tag-ulan",
    goal="500,000 views",
    campaign_type="blitz",
    planned_for=datetime.date(2026, 12, 1),
    review_on=datetime.date(2026, 12, 15),
    planning_budget=1234567.89,
)
planner = CampaignPlansApi(client_with(os.environ["PLANNING_KEY"]))
budgets = []
for attempt in range(2):
    response = planner.prepare_campaign_plan_with_http_info(plan)
    budgets.append({"status": response.status_code, "planning_budget": response.data.planning_budget})

message = RpcMessage(jsonrpc="2.0", id=RpcMessageId(7), method="ping")
pong = AssistantsApi(reader).post_assistant_message(message)

ponged = pong.id.actual_instance
print(json.dumps({"records": records, "events": events, "refused": refused, "budgets": budgets, "ponged": ponged}))
