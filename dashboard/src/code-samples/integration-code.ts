/**
 * Example programs that call the integration API, ready to paste and run. The dashboard shows them with the service's
 * address and the brokerage's lanes. docs/signing.md shows them with example values; a test compares them. Tests run both.
 *
 * Programs read credentials from the environment and never contain them.
 */

export const codeLanguages = ['curl', 'python', 'typescript'] as const
export type CodeLanguage = (typeof codeLanguages)[number]

/** The operations with example programs. */
export const codeCalls = ['shipment-update', 'markup', 'lane-insight'] as const
export type CodeCall = (typeof codeCalls)[number]

/** A pending lane and its booking amounts, in dollars. */
export interface CodeBooking {
  readonly laneRef: string
  readonly customerRate: number
  readonly truckCost: number
}

/** A lane, and a rate to compare with its history, in dollars. */
export interface CodeLane {
  readonly origin: string
  readonly destination: string
  readonly equipment: string
  readonly rate: number
}

/**
 * The shell lines that set the programs' credentials in the environment.
 *
 * @param known the plaintexts; null for a placeholder text
 * @example exportLines({ token: null, secret: null }).split('\n').length // 2
 */
export function exportLines(known: {
  readonly token: string | null
  readonly secret: string | null
}): string {
  return [
    `export LANEWISE_TOKEN=${shellText(known.token ?? 'put the service token here')}`,
    `export LANEWISE_SECRET=${shellText(known.secret ?? 'put the signing secret here')}`,
  ].join('\n')
}

/**
 * A program that signs and sends a booking. `base` is the service's URL without a trailing slash. The booking is real and
 * changes the lane.
 *
 * @example shipmentUpdateCode('curl', 'https://tms.example', { laneRef: '48211093754-1-1', customerRate: 2150, truckCost: 1820.5 })
 */
export function shipmentUpdateCode(language: CodeLanguage, base: string, booking: CodeBooking): string {
  const address = `${base}/api/integrations/tms/shipment-update`
  switch (language) {
    case 'curl':
      return signedCurl(address, booking)
    case 'python':
      return signedPython(address, booking)
    case 'typescript':
      return signedTypeScript(address, booking)
  }
}

/** A program that requests the advice on a rate. Reads need only the token, no signature. */
export function markupCode(language: CodeLanguage, base: string, lane: CodeLane): string {
  const { origin, destination, equipment, rate } = lane
  return readCode(language, `${base}/api/integrations/insights/markup`, [
    ['origin', origin],
    ['destination', destination],
    ['equipment', equipment],
    ['proposed_rate', String(rate)],
  ])
}

/** A program that requests the insight into a lane. */
export function laneInsightCode(language: CodeLanguage, base: string, lane: CodeLane): string {
  const { origin, destination, equipment } = lane
  return readCode(language, `${base}/api/integrations/insights/lane`, [
    ['origin', origin],
    ['destination', destination],
    ['equipment', equipment],
  ])
}

function signedCurl(address: string, booking: CodeBooking): string {
  const body = JSON.stringify({
    lane_ref: booking.laneRef,
    customer_rate: booking.customerRate,
    truck_cost: booking.truckCost,
  })
  return `BODY=${shellText(body)}
TIMESTAMP=$(date +%s)
SIGNATURE=$(printf '%s' "$TIMESTAMP.$BODY" | openssl dgst -sha256 -hmac "$LANEWISE_SECRET" | sed 's/^.*= //')
curl -sS -w '\\nHTTP %{http_code}\\n' ${shellText(address)} \\
  -H "Authorization: Bearer $LANEWISE_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -H "X-Service-Timestamp: $TIMESTAMP" \\
  -H "X-Service-Signature: sha256=$SIGNATURE" \\
  --data-binary "$BODY"`
}

const pythonAnswer = `try:
    response = urllib.request.urlopen(request)
except urllib.error.HTTPError as refusal:
    response = refusal
print(response.read().decode())
print("HTTP", response.status)`

function signedPython(address: string, booking: CodeBooking): string {
  return `import hashlib, hmac, json, os, time, urllib.error, urllib.request

token, secret = os.environ["LANEWISE_TOKEN"], os.environ["LANEWISE_SECRET"]
# Serialised once: these bytes are signed, and these bytes are sent.
body = json.dumps({
    "lane_ref": ${pythonText(booking.laneRef)},
    "customer_rate": ${booking.customerRate},
    "truck_cost": ${booking.truckCost},
}).encode()
timestamp = str(int(time.time()))
signature = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
request = urllib.request.Request(
    ${pythonText(address)},
    data=body,
    headers={
        "Authorization": "Bearer " + token,
        "Content-Type": "application/json",
        "X-Service-Timestamp": timestamp,
        "X-Service-Signature": "sha256=" + signature,
    },
)
${pythonAnswer}`
}

const scriptAnswer = `console.log(await response.text())
console.log('HTTP', response.status)`

function signedTypeScript(address: string, booking: CodeBooking): string {
  return `import { createHmac } from 'node:crypto'

const { LANEWISE_TOKEN: token = '', LANEWISE_SECRET: secret = '' } = process.env
// Serialised once: these bytes are signed, and these bytes are sent.
const body: string = JSON.stringify({
  lane_ref: ${scriptText(booking.laneRef)},
  customer_rate: ${booking.customerRate},
  truck_cost: ${booking.truckCost},
})
const timestamp = String(Math.floor(Date.now() / 1000))
const signature = createHmac('sha256', secret).update(\`\${timestamp}.\${body}\`).digest('hex')
const response = await fetch(${scriptText(address)}, {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${token}\`,
    'Content-Type': 'application/json',
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': \`sha256=\${signature}\`,
  },
  body,
})
${scriptAnswer}`
}

type Asked = readonly (readonly [name: string, value: string])[]

function readCode(language: CodeLanguage, address: string, asked: Asked): string {
  switch (language) {
    case 'curl': {
      const parameters = asked.map(([name, value]) => `  --data-urlencode ${shellText(`${name}=${value}`)}`)
      return `curl -sS -w '\\nHTTP %{http_code}\\n' -G ${shellText(address)} \\
  -H "Authorization: Bearer $LANEWISE_TOKEN" \\
${parameters.join(' \\\n')}`
    }
    case 'python': {
      const parameters = asked.map(([name, value]) => `    ${pythonText(name)}: ${pythonText(value)},`)
      return `import os, urllib.error, urllib.parse, urllib.request

query = urllib.parse.urlencode({
${parameters.join('\n')}
})
request = urllib.request.Request(
    ${pythonText(`${address}?`)} + query,
    headers={"Authorization": "Bearer " + os.environ["LANEWISE_TOKEN"]},
)
${pythonAnswer}`
    }
    case 'typescript': {
      const parameters = asked.map(([name, value]) => `  ${name}: ${scriptText(value)},`)
      return `const { LANEWISE_TOKEN: token = '' } = process.env
const address = new URL(${scriptText(address)})
address.search = new URLSearchParams({
${parameters.join('\n')}
}).toString()
const response = await fetch(address, { headers: { Authorization: \`Bearer \${token}\` } })
${scriptAnswer}`
    }
  }
}

/** A POSIX shell string without expansion. @example shellText("O'Fallon, MO") // "'O'\\''Fallon, MO'" */
function shellText(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A Python string. JSON escapes are valid in Python. */
function pythonText(text: string): string {
  return JSON.stringify(text)
}

/** A single-quoted TypeScript string. */
function scriptText(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}
