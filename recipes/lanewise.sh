#!/usr/bin/env bash
# From sign-in to a booked margin, with curl and openssl. See docs/recipes.md.
#   LANEWISE_URL, LANEWISE_EMAIL, LANEWISE_PASSWORD: the service, and the sign-in of an admin or owner
#   LANEWISE_LANE_REF: the lane_ref of the booked quote
# (A password that contains a quote or a backslash requires a JSON tool such as jq.)
set -euo pipefail

# The signature of the file $2 at the time $1, over the unchanged bytes of the file.
sign() {
  { printf '%s.' "$1"; cat "$2"; } | openssl dgst -sha256 -hmac "$LANEWISE_SECRET" | sed 's/^.*= /sha256=/'
}

# "lanewise.sh sign TIME FILE ..." only prints signatures, to compare them with the test vectors.
if [ "${1:-}" = sign ]; then
  shift
  while [ $# -gt 0 ]; do sign "$1" "$2"; shift 2; done
  exit
fi

# Extracts one member of a flat JSON response.
member() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
# --fail-with-body saves an error response, too, and ends the script. --retry retries after 429, 503 and a lost connection; the
# response is in a file, because only in a file does the next response replace that of a failed attempt.
response=$(mktemp)
body=$(mktemp)
signed=$(mktemp)
trap 'rm -f "$response" "$body" "$signed"' EXIT
call() {
  local status=0
  curl -sS --fail-with-body --retry 4 --retry-connrefused --output "$response" "$@" || status=$?
  cat "$response"
  return "$status"
}
post() { call -H 'Content-Type: application/json' -H "Authorization: Bearer $1" --data-binary "$3" "$LANEWISE_URL$2"; }

# 1. An admin signs in and creates the two credentials. Only these responses have the plaintext.
session=$(post '' /api/auth/sign-in "{\"email\":\"$LANEWISE_EMAIL\",\"password\":\"$LANEWISE_PASSWORD\"}" | member token)
# The time and the process id make the name unique: a brokerage can have at most two live secrets with the same name.
name="\"name\":\"curl recipe $(date +%s) $$\""
token=$(post "$session" /api/integrations/tokens "{$name,\"scope\":\"integrations:write quotes:write\"}" | member token)
LANEWISE_SECRET=$(post "$session" /api/integrations/secrets "{$name}" | member secret)

# 2. A signed update of the booking. The file contains the signed bytes, and curl sends exactly these bytes.
printf '%s' "{\"lane_ref\":\"$LANEWISE_LANE_REF\",\"customer_rate\":2150,\"truck_cost\":1820.50}" > "$body"
timestamp=$(date +%s)
call "$LANEWISE_URL/api/integrations/tms/shipment-update" \
  -H "Authorization: Bearer $token" \
  -H 'Content-Type: application/json' \
  -H "X-Service-Timestamp: $timestamp" \
  -H "X-Service-Signature: $(sign "$timestamp" "$body")" \
  --data-binary "@$body"
echo

# 3. Pricing advice and insight for the lane. Cache the responses for 5 and 15 minutes.
lane=(--data-urlencode 'origin=Dallas, TX' --data-urlencode 'destination=Atlanta, GA' --data-urlencode 'equipment=V')
call -G -H "Authorization: Bearer $token" "${lane[@]}" --data-urlencode 'proposed_rate=2150' "$LANEWISE_URL/api/integrations/insights/markup"
echo
call -G -H "Authorization: Bearer $token" "${lane[@]}" "$LANEWISE_URL/api/integrations/insights/lane"
echo

# 4. A quote under your own id: up to 500 per call, each with its own result. The signature covers the address, too: its
# text is the address, a line feed and the body.
path=/api/integrations/quotes
quote='{"external_id":"RECIPE-1","origin":"Dallas, TX","destination":"Atlanta, GA","equipment":"V"'
printf '%s' "{\"quotes\":[$quote,\"quoted_rate\":2150,\"customer_name\":\"Harvest Table Foods\"}]}" > "$body"
{ printf 'POST %s\n' "$path"; cat "$body"; } > "$signed"
timestamp=$(date +%s)
call "$LANEWISE_URL$path" \
  -H "Authorization: Bearer $token" \
  -H 'Content-Type: application/json' \
  -H "X-Service-Timestamp: $timestamp" \
  -H "X-Service-Signature: $(sign "$timestamp" "$signed")" \
  --data-binary "@$body"
echo
