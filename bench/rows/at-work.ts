import { loadavg } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { markup } from '#contract/markup.ts'
import { seededRandom } from '#server/sample/index.ts'
import type { Bar } from '../../evaluation/src/bar.ts'
import { adviceCall, fileToImport, peopleAtWork } from '../at-work/people-at-work.ts'
import { type PreparedBrokerage, prepareBrokerage } from '../at-work/prepared-brokerage.ts'
import type { ClockMoved, MemoryUse, Watched } from '../at-work/probe-messages.ts'
import {
  type ImportEnd,
  type InTheEnd,
  imported,
  inTheEnd,
  type ServiceAtWork,
  signedIn,
  startAtWork,
} from '../at-work/service-at-work.ts'
import {
  type CallKind,
  callKinds,
  faultsOf,
  percentile,
  refusedOf,
  type Tally,
  workingDay,
} from '../at-work/working-day.ts'
import { type Bench, type BenchFindings, type BenchRow, type BenchTable, spreadOf } from '../bench-row.ts'
import { figure } from '../report.ts'

/** What people may wait for, by the quotes of their brokerage. */
const aims = [
  { upTo: 12_000, adviceMs: 30, saveMs: 15, firstSeconds: 0.5 },
  { upTo: 100_000, adviceMs: 60, saveMs: 20, firstSeconds: 1 },
  { upTo: Number.POSITIVE_INFINITY, adviceMs: 150, saveMs: 25, firstSeconds: 5 },
] as const
const blockMsMax = 30
/** What a million quotes may take. */
const bookMegabytesMax = 120
const bookQuotes = 1_000_000

const starts = 3
/** A run that is meant to be shorter than this starts the service once, which is no measurement of first answers. */
const shortSeconds = 5
/** Half of it is before midnight. */
const dayEndSecondsMax = 20
const importRowsMax = 100_000
const dayMs = 86_400_000
const megabyte = 1024 * 1024

interface Stretch {
  readonly name: string
  readonly tallies: Record<CallKind, Tally>
  readonly loop: Watched
  /** The longest that the benchmark's own loop waited meanwhile: what the machine's other work costs anybody. */
  readonly ownMaxMs: number
  /** Processes of the whole machine that ran or waited to run in the minute before. */
  readonly busyBefore: number
}

interface Measured {
  readonly quotes: number
  /** The first advice of each start. */
  readonly firsts: readonly InTheEnd[]
  readonly book: Book
  readonly stretches: readonly Stretch[]
  /** After the first stretch. */
  readonly after: MemoryUse
  readonly notes: readonly string[]
  readonly faults: readonly string[]
}

/** The book of a brokerage as it was opened for the first time. */
interface Book {
  readonly token: string
  readonly before: MemoryUse
  readonly open: MemoryUse
  /** The advice that opened it. */
  readonly first: InTheEnd
}

interface Work {
  readonly seconds: number
  readonly rows: number
  readonly brokerage: PreparedBrokerage
  readonly say: (line: string) => void
}

const count = (number: number) => number.toLocaleString('en-US')

async function stretch(
  name: string,
  service: ServiceAtWork,
  callers: Parameters<typeof workingDay>[1],
  over: () => Promise<unknown>,
): Promise<Stretch> {
  const own = monitorEventLoopDelay({ resolution: 2 })
  const [busyBefore = 0] = loadavg()
  await service.probe<null>({ kind: 'watch' })
  own.enable()
  const tallies = await workingDay(service.send, callers, over())
  own.disable()
  const loop = await service.probe<Watched>({ kind: 'watched' })
  return { name, tallies, loop, ownMaxMs: own.max / 1e6, busyBefore }
}

/** What the book of the brokerage takes: all that a process needs for an answer to anybody is there before it. */
async function openedBook(brokerage: PreparedBrokerage, service: ServiceAtWork): Promise<Book> {
  const { small, lanes } = brokerage
  const [smallLane, lane] = [small.lanes.lanes[0], lanes.lanes[0]]
  if (smallLane === undefined || lane === undefined) throw new Error('A brokerage has no lanes.')
  await inTheEnd(service, adviceCall(small.access.token, smallLane, 0.5, markup.path))
  const token = await signedIn(service, brokerage)
  const before = await service.probe<MemoryUse>({ kind: 'memory' })
  const first = await inTheEnd(service, adviceCall(token, lane, 0.5))
  const open = await service.probe<MemoryUse>({ kind: 'memory' })
  return { token, before, open, first }
}

/** Does a piece of work with a service, which is stopped afterwards, however it went. */
async function withService<Result>(
  brokerage: PreparedBrokerage,
  work: (service: ServiceAtWork) => Promise<Result>,
  how?: 'kill',
): Promise<Result> {
  const service = await startAtWork(brokerage)
  try {
    return await work(service)
  } finally {
    await service.stop(how)
  }
}

/** The first advice of a process that has answered nobody before. */
async function firstAdvice(
  { lanes, plan }: PreparedBrokerage,
  service: ServiceAtWork,
  token: string,
  start: number,
): Promise<InTheEnd> {
  const lane = lanes.draw(seededRandom(plan.seed + start))
  return inTheEnd(service, adviceCall(token, lane, 0.5))
}

/** The working day, the end of a day, and an import: one after the other, for what an import adds would be in the others. */
async function daysOf(
  work: Work,
  service: ServiceAtWork,
  token: string,
): Promise<Pick<Measured, 'stretches' | 'after' | 'notes' | 'faults'>> {
  const { seconds, rows, brokerage, say } = work
  const file = fileToImport(brokerage, rows)
  say(`eight people at work for ${seconds} s`)
  const plain = peopleAtWork(brokerage, { token, round: 0, clock: Date.now })
  const day = await stretch('', service, plain, () => delay(seconds * 1000))
  const after = await service.probe<MemoryUse>({ kind: 'memory' })

  const half = Math.min(dayEndSecondsMax, seconds) / 2
  say(`the end of a day, ${half} s on either side`)
  const beforeMidnight = dayMs - 1000 * half - 500
  const moved = await service.probe<ClockMoved>({ kind: 'clock', millisecondOfDay: beforeMidnight })
  const clock = () => Date.now() + moved.aheadMs
  // The session that began by the machine's clock may be over by now.
  const late = await signedIn(service, brokerage)
  const evening = peopleAtWork(brokerage, { token: late, round: 1, clock })
  const dayEnd = await stretch(', end of a day', service, evening, () => delay(2000 * half))

  say(`an import of ${count(rows)} rows beside the same work`)
  const beside = peopleAtWork(brokerage, { token: late, round: 2, clock })
  const ends: ImportEnd[] = []
  const importing = await stretch(', import', service, beside, async () => {
    ends.push(await imported(service, late, file))
  })
  return {
    stretches: [day, dayEnd, importing],
    after,
    notes: ends.map(
      ({ rowsAdded, seconds }) =>
        `an import added ${count(rowsAdded)} of ${count(rows)} rows beside the work in ${figure(seconds)} s`,
    ),
    faults: ends.flatMap(({ faults, rowsAdded }) => [
      ...faults,
      ...(rowsAdded === rows ? [] : [`${rowsAdded} of ${rows} rows were added`]),
    ]),
  }
}

async function measureOne(bench: Bench, quotes: number): Promise<Measured> {
  const say = (line: string) => bench.say(`at-work, ${count(quotes)} quotes: ${line}`)
  const { seconds } = bench.options.atWork
  const brokerage = await prepareBrokerage(bench, quotes)
  const work: Work = { seconds, rows: Math.min(bench.options.importRows, importRowsMax), brokerage, say }
  try {
    if (seconds < shortSeconds) {
      return await withService(
        brokerage,
        async (service) => {
          const book = await openedBook(brokerage, service)
          return { quotes, book, firsts: [book.first], ...(await daysOf(work, service, book.token)) }
        },
        'kill',
      )
    }
    say('opening its book')
    const book = await withService(brokerage, (service) => openedBook(brokerage, service))
    const firsts: InTheEnd[] = []
    for (let start = 1; start < starts; start++) {
      say(`start ${start} of ${starts}`)
      firsts.push(
        await withService(brokerage, (service) => firstAdvice(brokerage, service, book.token, start)),
      )
    }
    say(`start ${starts} of ${starts}`)
    return await withService(
      brokerage,
      async (service) => {
        firsts.push(await firstAdvice(brokerage, service, book.token, starts))
        return { quotes, book, firsts, ...(await daysOf(work, service, book.token)) }
      },
      'kill',
    )
  } finally {
    await brokerage.remove()
  }
}

function linesOf({ quotes, stretches, firsts }: Measured): BenchTable['lines'] {
  const lines = stretches.flatMap(({ name, tallies }) =>
    callKinds.map((kind): BenchTable['lines'][number] => {
      const { times } = tallies[kind]
      const shares = [0.5, 0.95, 1].map((share) => spreadOf([percentile(times, share)]))
      const refused = refusedOf(tallies[kind])
      return [`${count(quotes)}${name}: ${kind}`, ...shares, count(times.length + refused), count(refused)]
    }),
  )
  const first = spreadOf(firsts.map(({ seconds }) => seconds * 1000))
  const refused = firsts.reduce((sum, first) => sum + first.refused.length, 0)
  const one = (value: number) => spreadOf([value])
  return [
    ...lines,
    [
      `${count(quotes)}: first advice`,
      one(first.median),
      '-',
      one(first.most),
      count(firsts.length + refused),
      count(refused),
    ],
  ]
}

/** Megabytes that the heap and what is kept beside it grew by. */
function grownBy(from: MemoryUse, to: MemoryUse): number {
  return (to.heapUsed + to.external - from.heapUsed - from.external) / megabyte
}

function barsOf({ quotes, stretches, firsts, book, after }: Measured): Bar[] {
  const aim = aims.find(({ upTo }) => quotes <= upTo) ?? aims[2]
  const bar = (measure: string, value: number, most?: number): Bar => ({
    check: 'at-work',
    measure: `${count(quotes)}${measure}`,
    value,
    ...(most === undefined ? {} : { most }),
  })
  const [plain] = stretches
  const times = (kind: CallKind) => plain?.tallies[kind].times ?? []
  return [
    bar(': advice, p95 ms', percentile(times('advice'), 0.95), aim.adviceMs),
    bar(': saving a quote, p50 ms', percentile(times('save'), 0.5), aim.saveMs),
    bar(
      ': first advice after a start, s',
      spreadOf(firsts.map(({ seconds }) => seconds)).median,
      aim.firstSeconds,
    ),
    ...stretches.flatMap(({ name, loop }) => [
      bar(`${name}: longest block of the event loop, ms`, loop.maxMs, blockMsMax),
      bar(`${name}: longest that its thread computed in one go, ms`, loop.computedMaxMs, blockMsMax),
      bar(`${name}: event loop, p99.9 ms`, loop.p999Ms),
    ]),
    bar(
      ': memory of the open book, MB',
      grownBy(book.before, book.open),
      quotes >= bookQuotes ? bookMegabytesMax : undefined,
    ),
    bar(': the same after the work, MB', grownBy(book.before, after)),
  ]
}

function notesOf({ quotes, stretches, book: { before, open }, after, firsts, notes }: Measured): string[] {
  const megabytes = (bytes: number) => figure(bytes / megabyte)
  const parts = (to: MemoryUse) =>
    `heap ${megabytes(to.heapUsed - before.heapUsed)}, external ${megabytes(to.external - before.external)} (array buffers ${megabytes(to.arrayBuffers - before.arrayBuffers)}), resident ${megabytes(to.resident)}`
  const name = `${count(quotes)} quotes`
  return [
    ...notes.map((note) => `${name}: ${note}`),
    `${name}: MB grown when the book is open: ${parts(open)}; after the work: ${parts(after)}`,
    `${name}: first advice after each start, s: ${firsts.map(({ seconds }) => figure(seconds)).join(', ')}`,
    ...stretches.map(({ name: where, loop, ownMaxMs, busyBefore }) => {
      const blocks = loop.blocks.map(({ ms, cpuMs }) => `${figure(ms)} (${figure(cpuMs)})`).join(', ')
      return `${name}${where}: longest blocks in ms (computing in them): ${blocks || 'none to speak of'}; longest collection ${figure(loop.longestCollectionMs)}; the benchmark itself waited up to ${figure(ownMaxMs)}; ${figure(loop.busy * 100)} % of a core; load average ${figure(busyBefore)} before`
    }),
  ]
}

/** One brokerage in its working day: what its people wait for, and what of it the process can bear. */
export const atWorkRow: BenchRow = {
  name: 'at-work',
  about: 'eight people, a save every 3 s and a signed update every second, in brokerages of several sizes',
  async measure(bench): Promise<BenchFindings> {
    const measured: Measured[] = []
    for (const quotes of bench.options.atWork.brokerages) measured.push(await measureOne(bench, quotes))
    return {
      table: {
        columns: ['p50 ms', 'p95 ms', 'longest ms', 'calls', 'refused'],
        lines: measured.flatMap(linesOf),
      },
      bars: measured.flatMap(barsOf),
      faults: measured.flatMap(({ quotes, stretches, firsts, faults }) => [
        ...firsts.flatMap(({ refused }) =>
          refused.length === 0
            ? []
            : [`${count(quotes)}: the first advice was refused ${refused.length} times: ${refused[0]}`],
        ),
        ...faults.map((fault) => `${count(quotes)}, import: ${fault}`),
        ...stretches.flatMap(({ name, tallies }) => faultsOf(`${count(quotes)}${name}`, tallies)),
      ]),
      notes: measured.flatMap(notesOf),
    }
  },
}
