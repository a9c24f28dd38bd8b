"""From sign-in to a booked margin, with only Python's standard library. See docs/recipes.md.

LANEWISE_URL, LANEWISE_EMAIL, LANEWISE_PASSWORD: the service, and the sign-in of an admin or owner
LANEWISE_LANE_REF: the lane_ref of the booked quote
"""

import hashlib
import hmac
import json
import os
import random
import sys
import time
import urllib.error
import urllib.parse
import urllib.request


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 of the time, a dot and exactly the bytes that are sent. The key is the complete secret as text."""
    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return "sha256=" + digest.hexdigest()


def call(method, path, token=None, body=None, headers=None, tries=5):
    """One call, with retries after 429, 503 and a lost connection. `body` is bytes and is sent unchanged."""
    request = urllib.request.Request(os.environ["LANEWISE_URL"] + path, data=body, method=method, headers=headers or {})
    if token is not None:
        request.add_header("Authorization", "Bearer " + token)
    if body is not None:
        request.add_header("Content-Type", "application/json")
    for attempt in range(1, tries + 1):
        wait = random.uniform(0, 0.25 * 2**attempt)
        try:
            with urllib.request.urlopen(request, timeout=15) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            if refusal.code not in (429, 503) or attempt == tries:
                sys.exit(refusal.read().decode())
            wait += float(refusal.headers.get("Retry-After") or 0)
        except OSError:
            if attempt == tries:
                raise
        time.sleep(wait)


def signed_post(path, token, secret, value, signs_address=True):
    # Serialized once: the same bytes are signed, sent, and sent again in retries.
    body = json.dumps(value).encode()
    timestamp = str(int(time.time()))
    # The signature of shipment-update covers the body only. All others cover the address, too.
    address = f"POST {path}\n".encode() if signs_address else b""
    signed = {"X-Service-Timestamp": timestamp, "X-Service-Signature": signature(secret, timestamp, address + body)}
    return call("POST", path, token, body, signed)


def main():
    # 1. An admin signs in and creates the two credentials. Only these responses have the plaintext.
    who = {"email": os.environ["LANEWISE_EMAIL"], "password": os.environ["LANEWISE_PASSWORD"]}
    session = call("POST", "/api/auth/sign-in", body=json.dumps(who).encode())["token"]
    # The time makes the name unique: a brokerage can have at most two live secrets with the same name.
    name = f"Python recipe {time.time():.3f}"
    scoped = json.dumps({"name": name, "scope": "integrations:write quotes:write"}).encode()
    token = call("POST", "/api/integrations/tokens", session, scoped)["token"]
    secret = call("POST", "/api/integrations/secrets", session, json.dumps({"name": name}).encode())["secret"]

    # 2. A signed update of the booking.
    booking = {"lane_ref": os.environ["LANEWISE_LANE_REF"], "customer_rate": 2150, "truck_cost": 1820.5}
    path = "/api/integrations/tms/shipment-update"
    print(json.dumps(signed_post(path, token, secret, booking, signs_address=False)))

    # 3. Pricing advice and insight for the lane. Cache the responses for 5 and 15 minutes.
    lane = {"origin": "Dallas, TX", "destination": "Atlanta, GA", "equipment": "V"}
    offer = urllib.parse.urlencode({**lane, "proposed_rate": 2150})
    print(json.dumps(call("GET", "/api/integrations/insights/markup?" + offer, token)))
    print(json.dumps(call("GET", "/api/integrations/insights/lane?" + urllib.parse.urlencode(lane), token)))

    # 4. A quote under your own id: up to 500 per call, each with its own result.
    quote = {**lane, "external_id": "RECIPE-1", "quoted_rate": 2150, "customer_name": "Harvest Table Foods"}
    print(json.dumps(signed_post("/api/integrations/quotes", token, secret, {"quotes": [quote]})))


if __name__ == "__main__":
    if sys.argv[1:2] == ["sign"]:
        # "lanewise.py sign TIME FILE ..." only prints signatures, to compare them with the test vectors.
        for at, file in zip(sys.argv[2::2], sys.argv[3::2]):
            with open(file, "rb") as body_file:
                print(signature(os.environ["LANEWISE_SECRET"], at, body_file.read()))
    else:
        main()
