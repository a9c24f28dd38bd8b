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
  type EventualAnswer,
  type ImportEnd,
  importFile,
  type ServiceAtWork,
  signedIn,
  startAtWork,
  untilSuccess,
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

/** The limits of response times, by the number of quotes of the brokerage. */
const aims = [
  { upTo: 12_000, adviceMs: 30, saveMs: 15, firstSeconds: 0.5 },
  { upTo: 100_000, adviceMs: 60, saveMs: 20, firstSeconds: 1 },
  { upTo: Number.POSITIVE_INFINITY, adviceMs: 150, saveMs: 25, firstSeconds: 5 },
] as const
const blockMsMax = 30
/** The memory limit for a million quotes. */
const bookMegabytesMax = 120
const bookQuotes = 1_000_000

const starts = 3
/** A run of fewer seconds starts the service only once, so it does not measure first responses reliably. */
const shortSeconds = 5
/** The length of the run around midnight. Half of it is before midnight. */
const dayEndSecondsMax = 20
const importRowsMax = 100_000
const dayMs = 86_400_000
const megabyte = 1024 * 1024

/** The results of one period of work. */
interface Period {
  readonly name: string
  readonly tallies: Record<CallKind, Tally>
  readonly loop: Watched
  /** The longest delay of the benchmark's own event loop. It shows how much other work on the machine delays programs. */
  readonly ownMaxMs: number
  /** The load average of the machine in the minute before. */
  readonly busyBefore: number
}

interface Measured {
  readonly quotes: number
  /** The first advice after each service start. */
  readonly firsts: readonly EventualAnswer[]
  readonly book: Book
  readonly periods: readonly Period[]
  /** Memory after the first period. */
  readonly after: MemoryUse
  readonly notes: readonly string[]
  readonly faults: readonly string[]
}

/** The first opening of a brokerage's book, its prepared history. */
interface Book {
  readonly token: string
  readonly before: MemoryUse
  readonly open: MemoryUse
  /** The advice that opened the book. */
  readonly first: EventualAnswer
}

interface Work {
  readonly seconds: number
  readonly rows: number
  readonly brokerage: PreparedBrokerage
  readonly say: (line: string) => void
}

const count = (number: number) => number.toLocaleString('en-US')

async function runPeriod(
  name: string,
  service: ServiceAtWork,
  callers: Parameters<typeof workingDay>[1],
  over: () => Promise<unknown>,
): Promise<Period> {
  const own = monitorEventLoopDelay({ resolution: 2 })
  const [busyBefore = 0] = loadavg()
  await service.probe<null>({ kind: 'watch' })
  own.enable()
  const tallies = await workingDay(service.send, callers, over())
  own.disable()
  const loop = await service.probe<Watched>({ kind: 'watched' })
  return { name, tallies, loop, ownMaxMs: own.max / 1e6, busyBefore }
}

/** Opens the book of the brokerage, and measures its memory. First, a request of the small brokerage loads shared data. */
async function openedBook(brokerage: PreparedBrokerage, service: ServiceAtWork): Promise<Book> {
  const { small, lanes } = brokerage
  const [smallLane, lane] = [small.lanes.lanes[0], lanes.lanes[0]]
  if (smallLane === undefined || lane === undefined) throw new Error('A brokerage has no lanes.')
  await untilSuccess(service, adviceCall(small.access.token, smallLane, 0.5, markup.path))
  const token = await signedIn(service, brokerage)
  const before = await service.probe<MemoryUse>({ kind: 'memory' })
  const first = await untilSuccess(service, adviceCall(token, lane, 0.5))
  const open = await service.probe<MemoryUse>({ kind: 'memory' })
  return { token, before, open, first }
}

/** Starts a service, runs `work`, and stops the service, even after an error. */
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

/** Requests the first advice from a new process. */
async function firstAdvice(
  { lanes, plan }: PreparedBrokerage,
  service: ServiceAtWork,
  token: string,
  start: number,
): Promise<EventualAnswer> {
  const lane = lanes.draw(seededRandom(plan.seed + start))
  return untilSuccess(service, adviceCall(token, lane, 0.5))
}

/** Measures a working day, midnight, and an import, in that order, because the import adds quotes. */
async function daysOf(
  work: Work,
  service: ServiceAtWork,
  token: string,
): Promise<Pick<Measured, 'periods' | 'after' | 'notes' | 'faults'>> {
  const { seconds, rows, brokerage, say } = work
  const file = fileToImport(brokerage, rows)
  say(`eight people at work for ${seconds} s`)
  const plain = peopleAtWork(brokerage, { token, round: 0, clock: Date.now })
  const day = await runPeriod('', service, plain, () => delay(seconds * 1000))
  const after = await service.probe<MemoryUse>({ kind: 'memory' })

  const half = Math.min(dayEndSecondsMax, seconds) / 2
  say(`midnight, ${half} s before and after`)
  const beforeMidnight = dayMs - 1000 * half - 500
  const moved = await service.probe<ClockMoved>({ kind: 'clock', millisecondOfDay: beforeMidnight })
  const clock = () => Date.now() + moved.aheadMs
  // By the moved clock, the earlier session may have expired.
  const late = await signedIn(service, brokerage)
  const evening = peopleAtWork(brokerage, { token: late, round: 1, clock })
  const dayEnd = await runPeriod(', midnight', service, evening, () => delay(2000 * half))

  say(`an import of ${count(rows)} rows during the same work`)
  const beside = peopleAtWork(brokerage, { token: late, round: 2, clock })
  const ends: ImportEnd[] = []
  const importing = await runPeriod(', import', service, beside, async () => {
    ends.push(await importFile(service, late, file))
  })
  return {
    periods: [day, dayEnd, importing],
    after,
    notes: ends.map(
      ({ rowsAdded, seconds }) =>
        `an import added ${count(rowsAdded)} of ${count(rows)} rows during the work in ${figure(seconds)} s`,
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
    const firsts: EventualAnswer[] = []
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

function linesOf({ quotes, periods, firsts }: Measured): BenchTable['lines'] {
  const lines = periods.flatMap(({ name, tallies }) =>
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

/** Returns the growth of heap and external memory, in megabytes. */
function grownBy(from: MemoryUse, to: MemoryUse): number {
  return (to.heapUsed + to.external - from.heapUsed - from.external) / megabyte
}

function barsOf({ quotes, periods, firsts, book, after }: Measured): Bar[] {
  const aim = aims.find(({ upTo }) => quotes <= upTo) ?? aims[2]
  const bar = (measure: string, value: number, most?: number): Bar => ({
    check: 'at-work',
    measure: `${count(quotes)}${measure}`,
    value,
    ...(most === undefined ? {} : { most }),
  })
  const [plain] = periods
  const times = (kind: CallKind) => plain?.tallies[kind].times ?? []
  return [
    bar(': advice, p95 ms', percentile(times('advice'), 0.95), aim.adviceMs),
    bar(': saving a quote, p50 ms', percentile(times('save'), 0.5), aim.saveMs),
    bar(
      ': first advice after a start, s',
      spreadOf(firsts.map(({ seconds }) => seconds)).median,
      aim.firstSeconds,
    ),
    ...periods.flatMap(({ name, loop }) => [
      bar(`${name}: longest block of the event loop, ms`, loop.maxMs, blockMsMax),
      bar(`${name}: most CPU time of the thread in one block, ms`, loop.computedMaxMs, blockMsMax),
      bar(`${name}: event loop, p99.9 ms`, loop.p999Ms),
    ]),
    bar(
      ': memory of the open book, MB',
      grownBy(book.before, book.open),
      quotes >= bookQuotes ? bookMegabytesMax : undefined,
    ),
    bar(': memory of the book after the work, MB', grownBy(book.before, after)),
  ]
}

function notesOf({ quotes, periods, book: { before, open }, after, firsts, notes }: Measured): string[] {
  const megabytes = (bytes: number) => figure(bytes / megabyte)
  const parts = (to: MemoryUse) =>
    `heap ${megabytes(to.heapUsed - before.heapUsed)}, external ${megabytes(to.external - before.external)} (array buffers ${megabytes(to.arrayBuffers - before.arrayBuffers)}), resident ${megabytes(to.resident)}`
  const name = `${count(quotes)} quotes`
  return [
    ...notes.map((note) => `${name}: ${note}`),
    `${name}: memory growth in MB with the book open: ${parts(open)}; after the work: ${parts(after)}`,
    `${name}: first advice after each start, s: ${firsts.map(({ seconds }) => figure(seconds)).join(', ')}`,
    ...periods.map(({ name: where, loop, ownMaxMs, busyBefore }) => {
      const blocks = loop.blocks.map(({ ms, cpuMs }) => `${figure(ms)} (${figure(cpuMs)})`).join(', ')
      return `${name}${where}: longest blocks in ms (CPU time): ${blocks || 'none'}; longest garbage collection ${figure(loop.longestCollectionMs)}; longest delay of the benchmark itself ${figure(ownMaxMs)}; ${figure(loop.busy * 100)} % of a core; load average ${figure(busyBefore)} before`
    }),
  ]
}

/** Response times, event loop and memory while the users of a brokerage work. */
export const atWorkRow: BenchRow = {
  name: 'at-work',
  promise:
    'eight people get advice within 30 to 150 ms (p95), by the size of their brokerage, and nothing blocks them for 30 ms',
  async measure(bench): Promise<BenchFindings> {
    const measured: Measured[] = []
    for (const quotes of bench.options.atWork.brokerages) measured.push(await measureOne(bench, quotes))
    return {
      table: {
        columns: ['p50 ms', 'p95 ms', 'longest ms', 'calls', 'refused'],
        lines: measured.flatMap(linesOf),
      },
      bars: measured.flatMap(barsOf),
      faults: measured.flatMap(({ quotes, periods, firsts, faults }) => [
        ...firsts.flatMap(({ refused }) =>
          refused.length === 0
            ? []
            : [`${count(quotes)}: the first advice was refused ${refused.length} times: ${refused[0]}`],
        ),
        ...faults.map((fault) => `${count(quotes)}, import: ${fault}`),
        ...periods.flatMap(({ name, tallies }) => faultsOf(`${count(quotes)}${name}`, tallies)),
      ]),
      notes: measured.flatMap(notesOf),
    }
  },
}
