/**
 * From sign-in to a booked margin, with the package lanewise-client. See
 * docs/recipes.md.
 *
 * LANEWISE_URL, LANEWISE_EMAIL, LANEWISE_PASSWORD: the service, and the sign-in of an admin or owner
 * LANEWISE_LANE_REF: the lane_ref of the booked quote
 */
import { readFileSync } from 'node:fs'
import { isLanewiseFailure, Lanewise, signatureHeaders } from 'lanewise-client'

const { LANEWISE_URL = '', LANEWISE_EMAIL = '', LANEWISE_PASSWORD = '', LANEWISE_LANE_REF = '' } = process.env
const [command, ...rest] = process.argv.slice(2)

async function main(): Promise<void> {
  // 1. An admin signs in and creates the two credentials. Only these responses have the plaintext: save it in a vault.
  const { token: session } = await new Lanewise({ baseUrl: LANEWISE_URL }).call('sign-in', {
    body: { email: LANEWISE_EMAIL, password: LANEWISE_PASSWORD },
  })
  const admin = new Lanewise({ baseUrl: LANEWISE_URL, token: session })
  // The time makes the name unique: a brokerage can have at most two live secrets with the same name.
  const name = `TypeScript recipe ${Date.now()}`
  const { token } = await admin.createServiceToken({ name, scope: 'integrations:write quotes:write' })
  const { secret } = await admin.createSigningSecret({ name })

  // Create one client and reuse it: it signs, retries, respects the rate limit, caches responses and corrects its
  // clock.
  const lanewise = new Lanewise({ baseUrl: LANEWISE_URL, token, secret })

  // 2. A signed update of the booking.
  const booking = { lane_ref: LANEWISE_LANE_REF, customer_rate: 2150, truck_cost: 1820.5 }
  console.log(JSON.stringify(await lanewise.shipmentUpdate(booking)))

  // 3. Pricing advice and insight for the lane.
  const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
  console.log(JSON.stringify(await lanewise.markup({ ...lane, proposed_rate: 2150 })))
  console.log(JSON.stringify(await lanewise.laneInsight(lane)))

  // 4. A quote under your own id: up to 500 per call, each with its own result.
  const quote = { ...lane, external_id: 'RECIPE-1', quoted_rate: 2150, customer_name: 'Harvest Table Foods' }
  console.log(JSON.stringify(await lanewise.pushQuotes({ quotes: [quote] })))
}

/** `lanewise.ts sign TIME FILE ...` only prints signatures, to compare them with the test vectors. */
async function sign(): Promise<void> {
  for (let at = 0; at + 1 < rest.length; at += 2) {
    const body = readFileSync(rest[at + 1] ?? '')
    const headers = await signatureHeaders(process.env.LANEWISE_SECRET ?? '', Number(rest[at]), body)
    console.log(headers['x-service-signature'])
  }
}

try {
  await (command === 'sign' ? sign() : main())
} catch (error) {
  if (!isLanewiseFailure(error)) throw error
  console.error(`${error.code}: ${error.message}`)
  process.exitCode = 1
}
