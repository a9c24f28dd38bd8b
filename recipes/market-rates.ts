/**
 * Pushes market rates from a URL or a file. See docs/market-rates.md for the fields.
 *
 *   node market-rates.ts https://rates.example.com/lanes.json    JSON: an array of rows
 *   node market-rates.ts lanes.xlsx                              CSV, gzip or XLSX: the service finds the columns
 *
 * LANEWISE_URL, LANEWISE_TOKEN, LANEWISE_SECRET: the service, a token with the scope quotes:write, and a signing secret
 * RATES_SOURCE: the source of rows that name none
 * RATES_AUTHORIZATION: the header Authorization that the URL needs, if any
 */
import { openAsBlob } from 'node:fs'
import { type Body, isLanewiseFailure, Lanewise } from 'lanewise-client'

type Rate = Body<'push-market-rates'>['rates'][number]

const {
  LANEWISE_URL = '',
  LANEWISE_TOKEN = '',
  LANEWISE_SECRET = '',
  RATES_SOURCE,
  RATES_AUTHORIZATION,
} = process.env
const assumed = RATES_SOURCE === undefined ? {} : { source: RATES_SOURCE }

/** A row of JSON as a rate. Change it to the names of your source; amounts are dollars per load. */
const rateOf = (row: Rate): Rate => ({ ...assumed, ...row })

async function fileAt(from: string): Promise<Blob> {
  if (!/^https?:/.test(from)) return openAsBlob(from)
  const headers = RATES_AUTHORIZATION === undefined ? {} : { authorization: RATES_AUTHORIZATION }
  const answer = await fetch(from, { headers, signal: AbortSignal.timeout(30_000) })
  if (!answer.ok) throw new Error(`${from} answered ${answer.status}.`)
  return answer.blob()
}

async function main(): Promise<void> {
  const patience = { attemptTimeoutMs: 45_000 }
  const lanewise = new Lanewise({
    baseUrl: LANEWISE_URL,
    token: LANEWISE_TOKEN,
    secret: LANEWISE_SECRET,
    patience,
  })
  const file = await fileAt(process.argv[2] ?? '')
  // JSON begins with a bracket. Any other file is sent in its own bytes.
  if (!(await file.slice(0, 100).text()).trimStart().startsWith('[')) {
    const stored = await lanewise.pushMarketFile(file, assumed)
    console.log(JSON.stringify(stored))
    if (stored.failed > 0) process.exitCode = 1
    return
  }
  const rates = (JSON.parse(await file.text()) as Rate[]).map(rateOf)
  for (let from = 0; from < rates.length; from += 500) {
    const { results, ...counts } = await lanewise.pushMarketRates({ rates: rates.slice(from, from + 500) })
    const refused = results.filter(({ status }) => status !== 200)
    console.log(JSON.stringify({ from, ...counts, refused }))
    if (counts.failed > 0) process.exitCode = 1
  }
}

try {
  await main()
} catch (error) {
  console.error(isLanewiseFailure(error) ? `${error.code}: ${error.message}` : String(error))
  process.exitCode = 1
}
