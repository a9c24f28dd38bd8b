"""Receives Lanewise events, verifies each with only the standard library, and processes each once.

EVENT_SECRET=whsec_... PORT=9000 python3 receive_events.py
"""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

KEY = base64.b64decode(os.environ["EVENT_SECRET"].removeprefix("whsec_"))
# The ids of processed events. A real receiver stores these ids in its database, in the transaction of the event.
PROCESSED = set()


def is_authentic(headers, body: bytes) -> bool:
    """True if one of the signatures is correct and the timestamp is within five minutes of the current time."""
    event_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        return False
    # Verify the body byte for byte as received. Parsing and serializing it again would change it.
    signed = f"{event_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    # During a secret rotation there are two signatures.
    return any(hmac.compare_digest(expected, one) for one in headers.get("webhook-signature", "").split(" "))


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        authentic = is_authentic(self.headers, body)
        if authentic and self.headers["webhook-id"] not in PROCESSED:
            PROCESSED.add(self.headers["webhook-id"])
            event = json.loads(body)
            lane = event["data"].get("lane", {})
            print(event["type"], lane.get("lane_ref", ""), lane.get("outcome", ""), flush=True)
        self.send_response(204 if authentic else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver)
print("waiting for events", flush=True)
server.serve_forever()
