"""Receives events with Django, and stores each once. In a project of yours, only `receive` and its path are new.

WEBHOOK_SECRET=whsec_… python django_receiver.py runserver 8000 --noreload
"""

import json
import os
import sqlite3
import sys
from contextlib import closing

from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from brand_records import AnyEvent, DeliveryError, verify_delivery

TYPES = {"payout.paid", "campaign.settled"}


@csrf_exempt  # The signature shows who sent it.
@require_POST
def receive(request: HttpRequest) -> HttpResponse:
    try:
        # Before anything reads request.POST.
        event = verify_delivery(request.body, request.headers, os.environ["WEBHOOK_SECRET"])
    except DeliveryError as error:
        return HttpResponse(f"not verified: {error}\n", status=401)
    if event["type"] not in TYPES:
        return HttpResponse("this receiver is not configured for events of this type\n", status=422)
    store_once(event)
    return HttpResponse(status=204)


def store_once(event: AnyEvent) -> None:
    """The service may send an event again. Another program processes what is stored, and ignores tests."""
    with closing(sqlite3.connect("events.db")) as db, db:
        db.execute("create table if not exists events (id text primary key, event text not null)")
        db.execute("insert or ignore into events values (?, ?)", [event["id"], json.dumps(event)])


urlpatterns = [path("", receive)]

if __name__ == "__main__":
    settings.configure(
        ALLOWED_HOSTS=["localhost", "127.0.0.1"],
        DATA_UPLOAD_MAX_MEMORY_SIZE=64 * 1024,  # Deliveries have at most 20 KiB.
        ROOT_URLCONF=__name__,
    )
    execute_from_command_line(sys.argv)
