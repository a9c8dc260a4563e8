"""Receives events with Flask, and stores each once.

WEBHOOK_SECRET=whsec_… flask --app flask_receiver run --port 8000
WEBHOOK_SECRET=whsec_… gunicorn --bind 127.0.0.1:8000 flask_receiver:app    behind your proxy
"""

import json
import os
import sqlite3
from contextlib import closing

from flask import Flask, request

from brand_records import AnyEvent, DeliveryError, verify_delivery

TYPES = {"payout.paid", "campaign.settled"}

app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = 64 * 1024  # Deliveries have at most 20 KiB.


@app.post("/")
def receive() -> tuple[str, int]:
    try:
        # Before anything reads request.form or request.json.
        event = verify_delivery(request.get_data(), request.headers, os.environ["WEBHOOK_SECRET"])
    except DeliveryError as error:
        return f"not verified: {error}\n", 401
    if event["type"] not in TYPES:
        return "this receiver is not configured for events of this type\n", 422
    store_once(event)
    return "", 204


def store_once(event: AnyEvent) -> None:
    """The service may send an event again. Another program processes what is stored, and ignores tests."""
    with closing(sqlite3.connect("events.db")) as db, db:
        db.execute("create table if not exists events (id text primary key, event text not null)")
        db.execute("insert or ignore into events values (?, ?)", [event["id"], json.dumps(event)])
