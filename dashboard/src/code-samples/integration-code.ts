/**
 * Programs that call the integration interface, ready to paste and run. The dashboard shows them with a brokerage's own
 * address and lanes, docs/signing.md with made-up ones: both are checked to come from here, and are run by tests.
 *
 * Credentials are never written into a program: it reads them from the environment.
 */

export const codeLanguages = ['curl', 'python', 'typescript'] as const
export type CodeLanguage = (typeof codeLanguages)[number]

/** What a program can do, by the name of the operation. */
export const codeCalls = ['shipment-update', 'markup', 'lane-insight'] as const
export type CodeCall = (typeof codeCalls)[number]

/** An open lane and what its booking would bring, in dollars. */
export interface CodeBooking {
  readonly laneRef: string
  readonly customerRate: number
  readonly truckCost: number
}

/** A lane to ask about, and a rate to compare with its history, in dollars. */
export interface CodeLane {
  readonly origin: string
  readonly destination: string
  readonly equipment: string
  readonly rate: number
}

/**
 * The lines that put the credentials where the programs look for them.
 *
 * @param known the plaintexts, where they are known; else a line says what to put in its place
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
 * A program that signs a booking and pushes it. `base` is where the service answers, without a slash at its end. The
 * booking is real: it changes the lane it names.
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

/** A program that asks how likely a rate is to win. Reads need the token alone: they carry no signature. */
export function markupCode(language: CodeLanguage, base: string, lane: CodeLane): string {
  const { origin, destination, equipment, rate } = lane
  return readCode(language, `${base}/api/integrations/insights/markup`, [
    ['origin', origin],
    ['destination', destination],
    ['equipment', equipment],
    ['proposed_rate', String(rate)],
  ])
}

/** A program that asks what is known about a lane. */
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

/** A text as a POSIX shell reads it: nothing in it is expanded. @example shellText("O'Fallon, MO") // "'O'\\''Fallon, MO'" */
function shellText(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A text as Python reads it. JSON's escapes are among Python's. */
function pythonText(text: string): string {
  return JSON.stringify(text)
}

/** A text as TypeScript reads it: JSON's escapes, with those of the other quote. */
function scriptText(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}
