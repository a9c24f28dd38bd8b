#!/usr/bin/env node
// Verifies the exported chain of a sealed pilot, and computes its scores, without the service: this one file needs Node 20 or
// later and nothing else. docs/pilot.md describes the file and each check.
//
//   node verify-pilot.mjs lanewise-pilot-2026-03-01.csv --head 1284:4b1f...2817@2026-03-01
//
// Exit status: 0 verified, 1 a check failed, 2 wrong usage.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const usage = `node verify-pilot.mjs FILE [--head ENTRY:HASH[@TIME]]... [--heads FILE] [--report FILE] [--json]

FILE      the export of the pilot: CSV, or JSON with a member "entries"
--head    a head that you noted down: the number and hash of an entry, and when you noted it
--heads   a file of such heads, one per line: ENTRY:HASH@TIME, or the line that the page copies
--report  the service's report (GET /api/pilot/report), to compare with the scores computed here
--json    prints the result as JSON
`

const LATE_AFTER_MS = 24 * 3600 * 1000
const DRAWS = 2000

// Reading

function readCsv(text) {
  const rows = []
  let row = []
  let cell = ''
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]
    if (quoted) {
      if (letter !== '"') cell += letter
      else if (text[at + 1] === '"') {
        cell += '"'
        at++
      } else quoted = false
    } else if (letter === '"') quoted = true
    else if (letter === ',') {
      row.push(cell)
      cell = ''
    } else if (letter === '\n') {
      row.push(cell.replace(/\r$/, ''))
      rows.push(row)
      row = []
      cell = ''
    } else cell += letter
  }
  if (cell !== '' || row.length > 0) rows.push([...row, cell.replace(/\r$/, '')])
  return rows
}

function readEntries(text) {
  const clean = text.replace(/^\uFEFF/, '')
  if (clean.trimStart().startsWith('{')) {
    const file = JSON.parse(clean)
    if (!Array.isArray(file.entries)) throw new Error('The JSON file has no list "entries".')
    return { entries: file.entries, report: file.report ?? null }
  }
  const [head = [], ...rows] = readCsv(clean)
  const columns = ['Entry', 'At', 'Kind', 'Lane id', 'Body', 'Hash']
  if (columns.some((name, at) => head[at] !== name)) {
    throw new Error(`The first line must be ${columns.join(',')}; it is ${head.join(',').slice(0, 80)}.`)
  }
  return {
    entries: rows.map(([entry, at, kind, lane, body, hash]) => ({
      entry: Number(entry),
      at,
      kind,
      lane_id: lane === '' ? null : Number(lane),
      body,
      hash,
    })),
    report: null,
  }
}

function readHead(text) {
  const line = text.trim()
  if (line.includes('{')) {
    // Other times in the line are those of the service, and prove nothing.
    const { entry, hash, noted_at } = JSON.parse(line.slice(line.indexOf('{')))
    return head(entry, hash, noted_at ?? null, line)
  }
  const [, entry, hash, time] = /^(\d+):([0-9a-fA-F]{64})(?:@(.+))?$/.exec(line) ?? []
  return head(Number(entry), hash, time ?? null, line)
}

function head(entry, hash, time, line) {
  const at = time === null ? null : Date.parse(time)
  if (!Number.isSafeInteger(entry) || typeof hash !== 'string' || Number.isNaN(at)) {
    throw new Error(`This is not a head: ${line.slice(0, 120)}`)
  }
  return { entry, hash: hash.toLowerCase(), at }
}

// The chain

function verifyChain(entries, heads) {
  const problems = []
  const wrong = (entry, what) => problems.push({ entry, what })
  const parsed = []
  let before = Buffer.alloc(32)
  let newestAt = Number.NEGATIVE_INFINITY
  let brokerage = null
  const hashes = new Map()
  if (entries.length === 0) wrong(1, 'is missing: the file has no entries')
  for (const [index, row] of entries.entries()) {
    const expected = index + 1
    if (row.entry !== expected) {
      wrong(expected, `is missing or not in its place: entry ${row.entry} is there`)
      return { problems, parsed, brokerage }
    }
    const at = Date.parse(row.at)
    let body
    try {
      body = JSON.parse(row.body)
    } catch {
      wrong(row.entry, 'its body is not JSON')
      return { problems, parsed, brokerage }
    }
    if (expected === 1) {
      if (row.kind !== 'started' || body.format !== 'lanewise pilot 1') {
        wrong(1, 'the chain does not begin with the start of a pilot')
        return { problems, parsed, brokerage }
      }
      brokerage = body.brokerage
    }
    const members = [brokerage?.id, row.entry, at * 1000, row.kind, row.lane_id, row.body]
    const hash = createHash('sha256').update(before).update(JSON.stringify(members)).digest()
    if (hash.toString('hex') !== row.hash) {
      wrong(
        row.entry,
        'was changed after it was recorded (its content, its time or its hash): its hash does not match',
      )
      return { problems, parsed, brokerage }
    }
    if (!(at >= newestAt))
      wrong(row.entry, `is backdated: it claims ${row.at}, before the entry in front of it`)
    if (row.kind === 'forecast' && body.late === null && at - Date.parse(body.quoted_at) > LATE_AFTER_MS) {
      wrong(row.entry, 'is a forecast of more than 24 hours after its quote that is not marked as late')
    }
    before = hash
    newestAt = Math.max(newestAt, at)
    hashes.set(row.entry, row.hash)
    parsed.push({ entry: row.entry, at, kind: row.kind, body })
  }
  for (const noted of heads) {
    const found = hashes.get(noted.entry)
    if (found === undefined) {
      wrong(parsed.length + 1, `is missing, and all entries up to ${noted.entry}, whose hash you noted`)
    } else if (found !== noted.hash) {
      wrong(
        noted.entry,
        'is not the entry whose hash you noted: this chain was written anew, or what you noted is wrong',
      )
    }
  }
  return { problems, parsed, brokerage }
}

// The experiment with suggested rates

/** FNV-1a, 32 bits. */
function hashOf(text) {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0
  return hash
}

const armWith = (seed, day, lane) =>
  seededNumbers(hashOf(`${seed} ${day} ${lane}`))() < 0.5 ? 'low' : 'high'

/**
 * The suggestions must be those of the seed. The start of an experiment has the SHA-256 of its seed, and its end the seed, so the
 * suggestions of a running experiment cannot be checked yet: `open` is their number. Starts of earlier versions have the seed.
 */
function armsOf(parsed) {
  const wrong = []
  let running = null
  let suggested = []
  const check = (seed) => {
    for (const { entry, body } of suggested) {
      if (body.experiment.arm !== armWith(seed, body.experiment.day, body.lane))
        wrong.push({ entry, what: 'has a suggestion that the seed of the experiment does not give' })
    }
    suggested = []
  }
  const end = (entry, seed) => {
    if (running === null) return
    if (running.seed !== undefined) check(running.seed)
    else if (createHash('sha256').update(String(seed)).digest('hex') === running.seed_sha256) check(seed)
    else
      wrong.push({ entry, what: 'ends an experiment without the seed whose hash was recorded at its start' })
    running = null
    suggested = []
  }
  for (const { entry, kind, body } of parsed) {
    if (kind === 'experiment') {
      end(entry, body.seed)
      running = body.action === 'started' ? body : null
    } else if (kind === 'stopped') end(entry, undefined)
    else if (kind === 'forecast' && body.experiment) {
      if (running === null) wrong.push({ entry, what: 'has a suggestion, and no experiment was running' })
      else suggested.push({ entry, body })
    }
  }
  if (running?.seed !== undefined) check(running.seed)
  return { wrong, open: suggested.length }
}

/** The newest experiment: the first planned quotes in order, each with what it earned within the fixed days. */
function experimentOf(parsed, quotes) {
  let experiment = null
  for (const { entry, kind, body } of parsed) {
    if (kind === 'experiment' && body.action === 'started') experiment = { entry, ...body, ended: false }
    else if (experiment !== null && (kind === 'experiment' || kind === 'stopped')) experiment.ended = true
  }
  if (experiment === null) return null
  const assigned = quotes
    .filter(({ forecast, outcome }) => forecast.entry > experiment.entry && outcome?.outcome !== 'void')
    .filter(({ forecast }) => forecast.body.experiment)
    .sort((one, other) => one.forecast.entry - other.forecast.entry)
    .slice(0, experiment.quotes)
  const limitMs = experiment.days * 86400000
  const isFull = assigned.length === experiment.quotes
  const isDone = isFull && parsed.at(-1).at - assigned.at(-1).forecast.at >= limitMs
  const rows = assigned.map(({ forecast, outcome }) => {
    const { body, at } = forecast
    const isWon =
      outcome?.outcome === 'won' && outcome.decided_at && Date.parse(outcome.decided_at) <= at + limitMs
    const isApart = isKeptApart({ forecast, outcome })
    // A booking that cannot be compared counts with the rate and the cost of its forecast.
    const booked = isApart ? null : outcome
    return {
      arm: body.experiment.arm,
      unit: `${body.lane} ${body.experiment.day}`,
      keptApart: isApart,
      follows: Math.abs((body.rate ?? 0) / body.experiment.rate - 1) <= 0.01,
      earned: isWon ? (booked?.revenue ?? body.rate ?? 0) - (booked?.cost ?? body.cost ?? 0) : 0,
    }
  })
  const [low, high] = ['low', 'high'].map((arm) => armOf(rows.filter((row) => row.arm === arm)))
  const gain = isDone && low && high ? high.mean - low.mean : null
  const half = gain === null ? null : 1.96 * Math.sqrt(low.variance + high.variance)
  const shown = ({ quotes: count, mean }) => ({ quotes: count, earned: mean })
  return {
    state: isDone ? 'done' : experiment.ended ? 'ended' : isFull ? 'waiting' : 'collecting',
    planned: experiment.quotes,
    assigned: rows.length,
    followed: rows.filter(({ follows }) => follows).length,
    kept_apart: rows.filter(({ keptApart }) => keptApart).length,
    result:
      gain === null
        ? null
        : { low: shown(low), high: shown(high), gain, range_95: { low: gain - half, high: gain + half } },
  }
}

/** The mean of an arm, with its variance over lanes and days; null with fewer than 20 of them. */
function armOf(rows) {
  const units = new Map()
  for (const row of rows) units.set(row.unit, [...(units.get(row.unit) ?? []), row])
  if (units.size < 20) return null
  const mean = rows.reduce((sum, { earned }) => sum + earned, 0) / rows.length
  let spread = 0
  for (const unit of units.values()) spread += unit.reduce((sum, { earned }) => sum + earned - mean, 0) ** 2
  return {
    quotes: rows.length,
    mean,
    variance: (units.size / (units.size - 1)) * (spread / rows.length ** 2),
  }
}

// The scores

const overallOf = (body) => ((body.all_won ?? 0) + 1) / ((body.all_decided ?? 0) + 2)
const laneOf = (body) => ((body.lane_won ?? 0) + 2 * overallOf(body)) / ((body.lane_decided ?? 0) + 2)
const isAnswer = (body) => body !== null && (body.outcome === 'won' || body.outcome === 'lost')

function quotesOf(parsed) {
  const quotes = new Map()
  const reps = new Map()
  let expiredIsLost = false
  let forecasts = 0
  for (const { entry, at, kind, body } of parsed) {
    if (kind === 'started') expiredIsLost = body.expired_counts_as_lost
    if (kind === 'forecast') {
      forecasts++
      const known = quotes.get(body.lane_ref)
      if (known?.decided) continue
      const rep = reps.get(body.rep ?? '') ?? { won: 0, decided: 0 }
      const repRate = (rep.won + 5 * overallOf(body)) / (rep.decided + 5)
      const forecast = { entry, at, body, repRate }
      // A later start does not change how this forecast is scored.
      if (known) Object.assign(known, { forecast, expiredIsLost })
      else {
        const undecided = { outcome: null, decided: false, corrections: 0, voidAfterAnswer: false }
        quotes.set(body.lane_ref, { forecast, expiredIsLost, ...undecided })
      }
    }
    if (kind === 'outcome') {
      const quote = quotes.get(body.lane_ref)
      if (!quote) continue
      const name = quote.forecast.body.rep ?? ''
      const rep = reps.get(name) ?? { won: 0, decided: 0 }
      reps.set(name, rep)
      if (isAnswer(quote.outcome)) {
        rep.decided--
        rep.won -= quote.outcome.outcome === 'won' ? 1 : 0
      }
      if (isAnswer(body)) {
        rep.decided++
        rep.won += body.outcome === 'won' ? 1 : 0
      }
      if (quote.decided && quote.outcome?.outcome !== body.outcome) quote.corrections++
      quote.decided ||= isAnswer(body)
      quote.voidAfterAnswer = quote.decided && body.outcome === 'void'
      quote.outcome = body
    }
  }
  return { quotes: [...quotes.values()], forecasts }
}

function whyUnscored({ forecast, outcome, expiredIsLost }) {
  const { body, at } = forecast
  if (outcome?.outcome === 'void') return 'void'
  if (body.late !== null) return 'late'
  if (outcome === null || outcome.outcome === 'pending') return 'undecided'
  if (outcome.outcome === 'expired' && !expiredIsLost) return 'expired'
  if (outcome.decided_at !== null && Date.parse(outcome.decided_at) < at) return 'late'
  if (body.probability === null) return 'no_forecast'
  // Entries of earlier versions have only the rate.
  const isSameRate =
    body.quoted_as === undefined || outcome.quoted_as === undefined
      ? outcome.rate === body.rate
      : outcome.quoted_as === body.quoted_as
  return isSameRate ? null : 'rate_changed'
}

/** Whether the amounts cannot be compared: a booking was not converted, or the default basis changed after the forecast. */
function isKeptApart({ forecast: { body }, outcome }) {
  if (outcome === null || outcome.kept_apart === true) return outcome !== null
  // Entries of earlier versions do not state their basis.
  return body.basis !== undefined && outcome.basis !== undefined && outcome.basis !== body.basis
}

function score(pairs) {
  const n = pairs.length
  let brier = 0
  let logLoss = 0
  for (const [p, won] of pairs) {
    const q = Math.min(1 - 1e-4, Math.max(1e-4, p))
    brier += (p - (won ? 1 : 0)) ** 2
    logLoss -= Math.log(won ? q : 1 - q)
  }
  const groups = calibration(pairs)
  const error = groups.reduce(
    (sum, { count, forecast, won }) => sum + (count / n) * Math.abs(forecast - won),
    0,
  )
  return { brier: brier / n, log_loss: logLoss / n, calibration_error: error }
}

/** Ten groups of equal size, from the lowest to the highest forecast. */
function calibration(pairs) {
  const sorted = [...pairs].sort(([one], [other]) => one - other)
  const groups = []
  for (let group = 0; group < 10; group++) {
    const part = sorted.slice(
      Math.floor((group * sorted.length) / 10),
      Math.floor(((group + 1) * sorted.length) / 10),
    )
    if (part.length === 0) continue
    groups.push({
      count: part.length,
      forecast: part.reduce((sum, [p]) => sum + p, 0) / part.length,
      won: part.filter(([, won]) => won).length / part.length,
    })
  }
  return groups
}

/** mulberry32, from a fixed seed. */
function seededNumbers(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** The 95 % range of a sum or mean over lanes drawn with replacement; null with fewer than five lanes. */
function rangeOver(values, isMean) {
  const byLane = new Map()
  for (const { lane, value } of values) {
    const known = byLane.get(lane) ?? { sum: 0, count: 0 }
    byLane.set(lane, { sum: known.sum + value, count: known.count + 1 })
  }
  const lanes = [...byLane.values()]
  if (lanes.length < 5) return null
  const random = seededNumbers(20260101)
  const found = new Float64Array(DRAWS)
  for (let draw = 0; draw < DRAWS; draw++) {
    let sum = 0
    let count = 0
    for (let nth = 0; nth < lanes.length; nth++) {
      const lane = lanes[Math.floor(random() * lanes.length)]
      sum += lane.sum
      count += lane.count
    }
    found[draw] = isMean ? sum / count : sum
  }
  found.sort()
  return { low: found[Math.round(0.025 * (DRAWS - 1))], high: found[Math.round(0.975 * (DRAWS - 1))] }
}

function scoresOf(parsed, heads) {
  const { quotes, forecasts } = quotesOf(parsed)
  const unscored = { undecided: 0, late: 0, no_forecast: 0, void: 0, expired: 0, rate_changed: 0 }
  const scored = []
  for (const quote of quotes) {
    const why = whyUnscored(quote)
    if (why === null) scored.push(quote)
    else unscored[why]++
  }
  const won = ({ outcome }) => outcome.outcome === 'won'
  const by = (forecast) => scored.map((quote) => [forecast(quote), won(quote)])
  const model = by(({ forecast }) => forecast.body.probability)
  const gains = scored.map((quote) => {
    const came = won(quote) ? 1 : 0
    const { body } = quote.forecast
    return { lane: body.lane, value: (laneOf(body) - came) ** 2 - (body.probability - came) ** 2 }
  })
  const isEmpty = scored.length === 0
  return {
    entries: parsed.length,
    forecasts,
    scored: scored.length,
    won: scored.filter(won).length,
    lanes: new Set(scored.map(({ forecast }) => forecast.body.lane)).size,
    unscored,
    void_after_answer: quotes.filter(({ voidAfterAnswer }) => voidAfterAnswer).length,
    corrections: quotes.reduce((sum, { corrections }) => sum + corrections, 0),
    kept_apart: scored.filter(isKeptApart).length,
    scores: isEmpty
      ? null
      : {
          model: score(model),
          lane_rate: score(by(({ forecast }) => laneOf(forecast.body))),
          rep_rate: score(by(({ forecast }) => forecast.repRate)),
          overall: score(by(({ forecast }) => overallOf(forecast.body))),
        },
    better_than_lane_rate: isEmpty
      ? null
      : {
          brier: gains.reduce((sum, { value }) => sum + value, 0) / gains.length,
          range_95: rangeOver(gains, true),
        },
    mean_forecast: isEmpty ? null : model.reduce((sum, [p]) => sum + p, 0) / model.length,
    calibration: isEmpty
      ? []
      : calibration(model).map(({ count, ...group }) => ({ quotes: count, ...group })),
    dollars: dollarsOf(scored.filter((quote) => !isKeptApart(quote))),
    experiment: experimentOf(parsed, quotes),
    noted_before_outcome: scored.filter(({ forecast, outcome }) =>
      heads.some(
        ({ entry, at }) =>
          at !== null &&
          entry >= forecast.entry &&
          outcome.decided_at !== null &&
          at <= Date.parse(outcome.decided_at),
      ),
    ).length,
  }
}

function dollarsOf(scored) {
  const rows = []
  for (const { forecast, outcome } of scored) {
    const {
      lane,
      rate,
      cost,
      probability,
      best_rate,
      probability_at_best,
      going_rate,
      probability_at_going,
    } = forecast.body
    if (rate === null || cost === null || best_rate === null || going_rate === null) continue
    const quoted = probability * (rate - cost)
    const best = probability_at_best * (best_rate - cost)
    const going = probability_at_going * (going_rate - cost)
    const earned = outcome.outcome === 'won' ? (outcome.revenue ?? rate) - (outcome.cost ?? cost) : 0
    rows.push({ lane, quoted, best, going, earned, value: best - quoted })
  }
  if (rows.length === 0) return null
  const sum = (name) => rows.reduce((total, row) => total + row[name], 0)
  return {
    quotes: rows.length,
    lanes: new Set(rows.map(({ lane }) => lane)).size,
    expected_margin_quoted: sum('quoted'),
    expected_margin_best: sum('best'),
    expected_margin_going: sum('going'),
    margin_earned: sum('earned'),
    difference: sum('best') - sum('quoted'),
    range_95: rangeOver(rows, false),
  }
}

/** The members of the service's report that differ from what was computed here. Amounts in the report are whole cents. */
function differences(report, own, path = '') {
  return Object.keys(own).flatMap((name) => {
    // Only this program counts these.
    if (name === 'noted_before_outcome' || name === 'void_after_answer') return []
    const [claimed, found] = [report?.[name], own[name]]
    const at = `${path}${name}`
    if (typeof found === 'number') {
      const tolerance = at.startsWith('dollars') || at.startsWith('experiment') ? 0.0051 : 1e-9
      return typeof claimed === 'number' && Math.abs(claimed - found) <= tolerance
        ? []
        : [`${at} is ${claimed} in the report, and ${found} in the chain`]
    }
    if (typeof found === 'string')
      return claimed === found ? [] : [`${at} is ${claimed} in the report, and ${found} in the chain`]
    if (found === null) return claimed === null ? [] : [`${at} is not null in the report`]
    return differences(claimed, found, `${at}.`)
  })
}

// The result as text

const percent = (share) => `${(100 * share).toFixed(1)} %`
const money = (dollars) =>
  `${Math.round(dollars) < 0 ? '-' : ''}$${Math.abs(Math.round(dollars)).toLocaleString('en-US')}`
const rangeText = (range, write) =>
  range === null ? 'no range: fewer than 5 lanes' : `${write(range.low)} to ${write(range.high)}`

function* lines({ brokerage, problems, scores, heads, unchecked }) {
  if (brokerage !== null)
    yield `Pilot of ${brokerage.name} (${brokerage.id}), ${scores.entries} entries verified.`
  for (const { entry, what } of problems) yield `WRONG  entry ${entry} ${what}.`
  if (problems.length > 0) return
  yield heads.length === 0
    ? 'No noted head was given: the chain agrees with itself, but entries at its end could be missing, and all of it could have been written later.'
    : `It agrees with ${heads.length} noted head(s), up to entry ${Math.max(...heads.map(({ entry }) => entry))}.`
  yield `${scores.forecasts} forecasts; ${scores.scored} scored (${scores.won} won) on ${scores.lanes} lanes; ${scores.corrections} outcomes corrected later.`
  yield `Not scored: ${Object.entries(scores.unscored)
    .map(([why, count]) => `${count} ${why.replaceAll('_', ' ')}`)
    .join(', ')}.`
  if (scores.void_after_answer > 0) {
    yield `${scores.void_after_answer} of the void quotes were voided after they were won or lost, which takes them out of the scores.`
  }
  if (scores.kept_apart > 0) {
    yield `The dollars leave out ${scores.kept_apart} scored quotes: a booked amount could not be converted, or the default basis changed.`
  }
  if (heads.some(({ at }) => at !== null)) {
    yield `${scores.noted_before_outcome} of the scored forecasts are covered by a head that was noted before the outcome.`
  }
  if (scores.scores === null) return
  yield ''
  yield 'Forecast by            Brier   log loss   calibration error'
  for (const [name, one] of Object.entries(scores.scores)) {
    yield `${name.padEnd(20)} ${one.brier.toFixed(4).padStart(7)} ${one.log_loss.toFixed(4).padStart(10)} ${one.calibration_error.toFixed(4).padStart(19)}`
  }
  const { brier, range_95: range } = scores.better_than_lane_rate
  yield `Brier score of the lane rate minus that of the model: ${brier.toFixed(4)} (95 %: ${rangeText(range, (value) => value.toFixed(4))}). Above 0, the model is better.`
  yield ''
  yield `Mean forecast ${percent(scores.mean_forecast)}, won ${percent(scores.won / scores.scored)}. By group, forecast and won:`
  for (const group of scores.calibration) {
    yield `  ${percent(group.forecast).padStart(7)} ${percent(group.won).padStart(7)}   of ${group.quotes}`
  }
  if (scores.experiment !== null) {
    const { state, planned, assigned, followed, result } = scores.experiment
    yield ''
    yield `Experiment with suggested rates: ${state}, ${assigned} of ${planned} quotes, ${followed} quoted within 1 % of the suggestion.`
    if (unchecked > 0) {
      yield `The suggestions of ${unchecked} forecasts can be checked when the experiment ends: its seed is recorded then.`
    }
    if (result !== null) {
      yield `A quote earned ${money(result.high.earned)} with the high suggestion and ${money(result.low.earned)} with the low one: ${money(result.gain)} more (95 %: ${rangeText(result.range_95, money)}).`
    }
  }
  const { dollars } = scores
  if (dollars === null) return
  yield ''
  yield `On ${dollars.quotes} quotes with a cost, expected margin by the recorded probabilities: ${money(dollars.expected_margin_quoted)} at the rates quoted, ${money(dollars.expected_margin_going)} at the going rates, ${money(dollars.expected_margin_best)} at the model's best rates. Earned: ${money(dollars.margin_earned)}.`
  yield `Best minus quoted: ${money(dollars.difference)} (95 %: ${rangeText(dollars.range_95, money)}). This is an estimate by the model itself, not an experiment.`
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      head: { type: 'string', multiple: true },
      heads: { type: 'string' },
      report: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  })
  const [file] = positionals
  if (values.help || file === undefined || positionals.length > 1) {
    process.stdout.write(usage)
    return values.help ? 0 : 2
  }
  const fromFile = values.heads === undefined ? [] : readFileSync(values.heads, 'utf8').split('\n')
  const heads = [...(values.head ?? []), ...fromFile].filter((line) => line.trim() !== '').map(readHead)
  const { entries, report } = readEntries(readFileSync(file, 'utf8'))
  const { problems, parsed, brokerage } = verifyChain(entries, heads)
  const scores = scoresOf(parsed, heads)
  const arms = armsOf(parsed)
  problems.push(...arms.wrong)
  const claimed = values.report === undefined ? report : JSON.parse(readFileSync(values.report, 'utf8'))
  if (claimed !== null && problems.length === 0) {
    for (const what of differences(claimed, scores))
      problems.push({ entry: scores.entries, what: `: ${what}` })
  }
  const unchecked = arms.open
  const result = { verified: problems.length === 0, brokerage, problems, heads, scores, unchecked }
  process.stdout.write(values.json ? `${JSON.stringify(result)}\n` : `${[...lines(result)].join('\n')}\n`)
  return problems.length === 0 ? 0 : 1
}

try {
  process.exitCode = main()
} catch (error) {
  process.stderr.write(`${error.message}\n\n${usage}`)
  process.exitCode = 2
}
