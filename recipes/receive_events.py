"""Receives Lanewise events, verifies each with only the standard library, and processes each once.

EVENT_SECRET=whsec_... PORT=9000 python3 receive_events.py
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

KEY = base64.b64decode(os.environ["EVENT_SECRET"].removeprefix("whsec_"))
# The ids of processed events. A real receiver saves these ids in its database, in the transaction of the event.
PROCESSED = set()


class EventRejected(Exception):
    """The request is not from Lanewise, it was altered, or it is too old."""


def verify_event(body: bytes, headers):
    """Returns the id of a received event and the event. Raises EventRejected; then answer 401."""
    event_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        raise EventRejected("webhook-timestamp is missing, or more than five minutes from now")
    # Verify the body byte for byte as received. Parsing and serializing it again would change it.
    signed = f"{event_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    # During a secret rotation there are two signatures. They are compared in constant time.
    given = headers.get("webhook-signature", "").split(" ")
    if not any([hmac.compare_digest(expected.encode(), one.encode()) for one in given]):
        raise EventRejected("no signature in webhook-signature matches")
    return event_id, json.loads(body)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        try:
            event_id, event = verify_event(body, self.headers)
            if event_id not in PROCESSED:
                PROCESSED.add(event_id)
                lane = event["data"].get("lane", {})
                print(event["type"], lane.get("lane_ref", ""), lane.get("outcome", ""), flush=True)
            self.send_response(204)
        except EventRejected as rejected:
            print(rejected, file=sys.stderr)
            self.send_response(401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver)
print("waiting for events", flush=True)
server.serve_forever()
