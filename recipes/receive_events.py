"""Takes events of Lanewise: verifies each with nothing but the standard library, and takes each once.

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
# What was taken already. A real receiver keeps these ids in its database, with what it made of the event.
TAKEN = set()


def is_ours(headers, body: bytes) -> bool:
    """True when one of the signatures is right, and the request was made within five minutes of now."""
    event_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        return False
    # The body byte for byte as it came: parsed and written again it would be another one.
    signed = f"{event_id}.{timestamp}.".encode() + body
    right = "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    # While a secret is being changed there are two.
    return any(hmac.compare_digest(right, one) for one in headers.get("webhook-signature", "").split(" "))


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        ours = is_ours(self.headers, body)
        if ours and self.headers["webhook-id"] not in TAKEN:
            TAKEN.add(self.headers["webhook-id"])
            event = json.loads(body)
            lane = event["data"].get("lane", {})
            print(event["type"], lane.get("lane_ref", ""), lane.get("outcome", ""), flush=True)
        self.send_response(204 if ours else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver)
print("waiting for events", flush=True)
server.serve_forever()
