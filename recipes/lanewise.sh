#!/usr/bin/env bash
# From a sign-in to a booked margin with curl and openssl. See docs/recipes.md.
#   LANEWISE_URL, LANEWISE_EMAIL, LANEWISE_PASSWORD: where, and who signs in (an admin or owner)
#   LANEWISE_LANE_REF: the lane that was booked
# (A password with a quote or a backslash in it needs a JSON tool such as jq.)
set -euo pipefail

# The signature of the file $2 at the time $1: the bytes are read as they are and serialised by nobody.
sign() {
  { printf '%s.' "$1"; cat "$2"; } | openssl dgst -sha256 -hmac "$LANEWISE_SECRET" | sed 's/^.*= /sha256=/'
}

# "lanewise.sh sign TIME FILE ..." prints signatures alone, to be compared with the known answers.
if [ "${1:-}" = sign ]; then
  shift
  while [ $# -gt 0 ]; do sign "$1" "$2"; shift 2; done
  exit
fi

# One member of a flat JSON answer.
member() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
# --fail-with-body: a refusal is printed, and ends the script. --retry sends again after 429, 503 and a cut connection.
call() { curl -sS --fail-with-body --retry 4 --retry-connrefused "$@"; }
post() { call -H 'Content-Type: application/json' -H "Authorization: Bearer $1" --data-binary "$3" "$LANEWISE_URL$2"; }

# 1. An admin signs in, and makes the two credentials. Their plaintext is in these answers only: keep them in a vault.
session=$(post '' /api/auth/sign-in "{\"email\":\"$LANEWISE_EMAIL\",\"password\":\"$LANEWISE_PASSWORD\"}" | member token)
# The time and the process make the name new at every run: a brokerage can have two live secrets of one name, not three.
name="{\"name\":\"curl recipe $(date +%s) $$\"}"
token=$(post "$session" /api/integrations/tokens "$name" | member token)
LANEWISE_SECRET=$(post "$session" /api/integrations/secrets "$name" | member secret)

# 2. What was booked, signed. The file holds the bytes that are signed, and curl sends these very bytes.
body=$(mktemp)
trap 'rm -f "$body"' EXIT
printf '%s' "{\"lane_ref\":\"$LANEWISE_LANE_REF\",\"customer_rate\":2150,\"truck_cost\":1820.50}" > "$body"
timestamp=$(date +%s)
call "$LANEWISE_URL/api/integrations/tms/shipment-update" \
  -H "Authorization: Bearer $token" \
  -H 'Content-Type: application/json' \
  -H "X-Service-Timestamp: $timestamp" \
  -H "X-Service-Signature: $(sign "$timestamp" "$body")" \
  --data-binary "@$body"
echo

# 3. What a rate is worth on the lane, and what is known about it. Keep these answers: 5 and 15 minutes.
lane=(--data-urlencode 'origin=Dallas, TX' --data-urlencode 'destination=Atlanta, GA' --data-urlencode 'equipment=V')
call -G -H "Authorization: Bearer $token" "${lane[@]}" --data-urlencode 'proposed_rate=2150' "$LANEWISE_URL/api/integrations/insights/markup"
echo
call -G -H "Authorization: Bearer $token" "${lane[@]}" "$LANEWISE_URL/api/integrations/insights/lane"
echo
