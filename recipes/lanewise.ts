/**
 * From a sign-in to a booked margin with the package lanewise-client. See docs/recipes.md.
 *
 * LANEWISE_URL, LANEWISE_EMAIL, LANEWISE_PASSWORD: where, and who signs in (an admin or owner)
 * LANEWISE_LANE_REF: the lane that was booked
 */
import { readFileSync } from 'node:fs'
import { isLanewiseFailure, Lanewise, signatureHeaders } from 'lanewise-client'

const { LANEWISE_URL = '', LANEWISE_EMAIL = '', LANEWISE_PASSWORD = '', LANEWISE_LANE_REF = '' } = process.env
const [command, ...rest] = process.argv.slice(2)

async function main(): Promise<void> {
  // 1. An admin signs in, and makes the two credentials. Their plaintext is in these answers only: keep them in a vault.
  const { token: session } = await new Lanewise({ baseUrl: LANEWISE_URL }).call('sign-in', {
    body: { email: LANEWISE_EMAIL, password: LANEWISE_PASSWORD },
  })
  const admin = new Lanewise({ baseUrl: LANEWISE_URL, token: session })
  // The time makes the name new at every run: a brokerage can have two live secrets of one name, not three.
  const name = `TypeScript recipe ${Date.now()}`
  const { token } = await admin.createServiceToken({ name })
  const { secret } = await admin.createSigningSecret({ name })

  // Make one client and keep it: it signs, tries again, keeps to the rate limit, caches answers and sets its clock right.
  const lanewise = new Lanewise({ baseUrl: LANEWISE_URL, token, secret })

  // 2. What was booked, signed.
  const booking = { lane_ref: LANEWISE_LANE_REF, customer_rate: 2150, truck_cost: 1820.5 }
  console.log(JSON.stringify(await lanewise.shipmentUpdate(booking)))

  // 3. What a rate is worth on the lane, and what is known about it.
  const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
  console.log(JSON.stringify(await lanewise.markup({ ...lane, proposed_rate: 2150 })))
  console.log(JSON.stringify(await lanewise.laneInsight(lane)))
}

/** `lanewise.ts sign TIME FILE ...` prints signatures alone, to be compared with the known answers. */
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
