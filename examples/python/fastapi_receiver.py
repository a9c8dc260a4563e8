"""Receives events with FastAPI, and stores each once.

WEBHOOK_SECRET=whsec_… uvicorn fastapi_receiver:app --port 8000
"""

import json
import os
import sqlite3
from contextlib import closing

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool

from brand_records import AnyEvent, DeliveryError, verify_delivery

TYPES = {"payout.paid", "campaign.settled"}
BODY_BYTES_MAX = 64 * 1024  # Deliveries have at most 20 KiB.

app = FastAPI()


@app.post("/")
async def receive(request: Request) -> Response:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES_MAX:
            return Response(status_code=413)
    try:
        event = verify_delivery(body, request.headers, os.environ["WEBHOOK_SECRET"])
    except DeliveryError as error:
        return Response(f"not verified: {error}\n", 401)
    if event["type"] not in TYPES:
        return Response("this receiver is not configured for events of this type\n", 422)
    await run_in_threadpool(store_once, event)
    return Response(status_code=204)


def store_once(event: AnyEvent) -> None:
    """The service may send an event again. Another program processes what is stored, and ignores tests."""
    with closing(sqlite3.connect("events.db")) as db, db:
        db.execute("create table if not exists events (id text primary key, event text not null)")
        db.execute("insert or ignore into events values (?, ?)", [event["id"], json.dumps(event)])
