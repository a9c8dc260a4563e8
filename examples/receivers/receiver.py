import hashlib, hmac, json, os, re, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRETS = [secret for secret in os.environ["WEBHOOK_SECRET"].split(",") if secret.startswith("whsec_")]
TYPES = {"payout.paid", "campaign.settled"}  # as selected


def verified_event(headers, body):
    """Return the event, or None if the request is not verified."""
    timestamp = headers.get("X-Service-Timestamp", "")
    signature = headers.get("X-Service-Signature", "")
    if not re.fullmatch("[0-9]{1,12}", timestamp) or not re.fullmatch("sha256=[0-9a-f]{64}", signature):
        return None
    if abs(time.time() - int(timestamp)) > 300:
        return None
    signed = timestamp.encode() + b"." + body
    digests = ["sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest() for secret in SECRETS]
    if not any(hmac.compare_digest(signature, digest) for digest in digests):
        return None
    event = json.loads(body)
    return event if event["type"] == headers.get("X-Service-Event") else None


class Receiver(BaseHTTPRequestHandler):
    timeout = 15

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,9}", length) or int(length) > 65_536:
            return self.respond(413)
        event = verified_event(self.headers, self.rfile.read(int(length)))
        if event is None:
            return self.respond(401)
        if event["type"] not in TYPES:
            return self.respond(422)
        print(event["id"], event["type"], event["data"]["id"])  # store it here, once for each id; process it afterwards
        self.respond(204)

    def respond(self, status):
        self.send_response(status)
        self.end_headers()


ThreadingHTTPServer(("", int(os.environ.get("PORT", "8000"))), Receiver).serve_forever()
