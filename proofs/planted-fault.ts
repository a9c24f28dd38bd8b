import { registerHooks } from 'node:module'

/**
 * Plants a fault in a service when Node loads it: `node --import planted-fault.ts?fault=NAME`. It replaces a text of a module in
 * memory; the file does not change. If the module lacks the text, loading fails, because a fault that is not planted proves nothing.
 *
 * The comment of each fault says what the service does with it.
 */

interface Edit {
  readonly file: string
  readonly text: string
  readonly instead: string
}

interface Fault extends Edit {
  /** Further edits, for a fault that several places of the service prevent. */
  readonly also?: readonly Edit[]
}

/** The code of a function that runs all steps of long work without a pause. */
const inOneTurn =
  '((steps) => { for (;;) { const step = steps.next(); if (step.done === true) return step.value } })'

/** With these edits, readers of files take cells of any length. */
const longCells = [
  {
    file: '/server/src/csv/cells.ts',
    text: 'whole.length > cellLengthMax ?',
    instead: 'false ?',
  },
  {
    file: '/server/src/csv/cells.ts',
    text: 'return text.length > cellLengthMax\n',
    instead: 'return false\n',
  },
] as const

const killedAmidQuotes = {
  file: '/server/src/first-start.ts',
  text: 'const writing = (lanes: number) =>\n',
  instead: "const writing = (lanes: number) =>\n    lanes > 6_000 ? process.kill(process.pid, 'SIGKILL') :\n",
} as const

export const faults = {
  /** A lost idle connection ends the process. */
  'pool without a listener': {
    file: '/server/src/database/session/open-database.ts',
    text: "pool.on('error', (error) => onIdleError?.(error))",
    instead: '',
  },
  /** A repeated request is not recognized. */
  'every request is new': {
    file: '/server/src/http/serve-endpoint.ts',
    text: 'Number(timestamp), requestDigest }',
    instead: 'Number(timestamp), requestDigest: Buffer.from(String(Math.random()).padEnd(32, "0")) }',
  },
  /** A stop signal ends the process at once. */
  'exit at once': {
    file: '/server/src/main.ts',
    text: 'const stop = (signal: NodeJS.Signals) => {',
    instead: 'const stop = (signal: NodeJS.Signals) => { process.exit(0);',
  },
  /** Errors of the PostgreSQL class "insufficient resources" return 500. */
  'a full disk is a bug': {
    file: '/server/src/database/session/database-failures.ts',
    text: "new Set(['08', '53', '57', '58', 'XX'])",
    instead: "new Set(['08', '57', '58', 'XX'])",
  },
  /** Requests over the limit are not refused. */
  'no rate limit per brokerage': {
    file: '/server/src/http/admission.ts',
    text: 'if (!permit.admitted) throw quotaExceeded(permit)',
    instead: 'if (false) throw quotaExceeded(permit)',
  },
  /** Transactions of all brokerages share one queue, and one brokerage may use all connections. */
  'one queue for all brokerages': {
    file: '/server/src/database/session/fair-connections.ts',
    text: 'lend(tenant: TenantId | null): Promise<Lent> {\n',
    instead: 'lend(_: TenantId | null, tenant: TenantId | null = null): Promise<Lent> {\n',
  },
  /** The whole decompressed file is in memory. */
  'files are decompressed as a whole': {
    file: '/server/src/tables/file-bytes.ts',
    text: 'isPacked ? gunzipped(file) : file',
    instead:
      "isPacked ? [await (await import('node:util')).promisify((await import('node:zlib')).gunzip)(Buffer.concat([...file]))] : file",
  },
  /** Each instance counts requests for itself, so two admit twice as many. */
  'each instance counts for itself': {
    file: '/server/src/limits/shared-limit.ts',
    text: "const isAlone = this.#look().state === 'alone'",
    instead: 'const isAlone = true',
  },
  /** The server waits for headers without a limit. */
  'no timeout for headers': {
    file: '/server/src/http/app.ts',
    text: 'headersTimeout: headersArrivalSecondsMax * 1000,',
    instead: 'headersTimeout: 0,',
  },
  /** One pattern reads the whole charge. On a thousand spaces, it backtracks for minutes. */
  'charges are read with one pattern': {
    file: '/engine/src/named-charges.ts',
    text: 'const charge = readCharge(part.trim())',
    instead: String.raw`const whole = /^\s*(\S.*?)\s*(?:[:=]|\s)\s*\$?\s*(\d{1,7}|\d{1,3}(?:,\d{3})+)(?:\.(\d{1,2}))?\s*$/.exec(part)
    const charge = whole === null ? null : readCharge(part.trim())`,
  },
  /** The reader looks up similar places for each wrong cell of pasted rows, in one turn. */
  'places are looked up for each pasted row': {
    file: '/server/src/imports/pasted-quotes.ts',
    text: 'const found = this.#found.get(place) ?? []',
    instead:
      'if (place !== null) return nearestSpellings(place)\n    const found = this.#found.get(place) ?? []',
    also: [
      {
        file: '/server/src/endpoints/quotes/pasted-quotes.ts',
        text: 'await yieldBetweenSteps(readPasted(text, reading))',
        instead: `${inOneTurn}(readPasted(text, reading))`,
      },
    ],
  },
  /** The search for typos compares names of any length, in one turn. */
  'customers of any name are compared in one turn': {
    file: '/engine/src/customer-name.ts',
    text: 'const TYPO_LENGTH_MAX = 60',
    instead: 'const TYPO_LENGTH_MAX = 1_000',
    also: [
      {
        file: '/server/src/endpoints/customers/customer-variants.ts',
        text: 'await yieldBetweenSteps(nameVariants(found.map(({ name }) => name)))',
        instead: `${inOneTurn}(nameVariants(found.map(({ name }) => name)))`,
      },
    ],
  },
  /** The problem of each wrong pair of a column map repeats the names of all columns in full. */
  'each problem lists all columns': {
    file: '/server/src/imports/columns.ts',
    text: 'return shownProblems(problems)',
    instead: 'return problems',
    also: [
      {
        file: '/server/src/imports/read-map.ts',
        text: "if (said.has(list)) return ''",
        instead: '',
      },
      {
        file: '/server/src/imports/column-problems.ts',
        text: 'names.slice(0, listedMax).map(quoted)',
        instead: 'names.slice(0, listedMax)',
      },
      {
        file: '/server/src/imports/read-map.ts',
        text: 'if (problems.length > pairProblemsMax) break',
        instead: '',
      },
    ],
  },
  /** Validation copies and checks a list item by item, however long it is. */
  'lists of any length are copied': {
    file: '/contract/src/shape.ts',
    text: "schema.type !== 'array' || value.length > maxItems",
    instead: "schema.type !== 'array'",
    also: [
      {
        file: '/contract/src/shape.ts',
        text: 'const long = tooLong(root, value, [])',
        instead: 'const long = [] as BodyPath[]',
      },
      {
        file: '/server/src/signing/strict-json.ts',
        text: 'const itemsMax = limits.keysMax + jsonItemsMax',
        instead: 'const itemsMax = Number.POSITIVE_INFINITY',
      },
    ],
  },
  /** In cells of any length, a pattern searches a cost of zero again from each zero. */
  'costs of any length are searched for zeros': {
    file: '/server/src/csv/money-cells.ts',
    text: String.raw`(?:0+(?:\.0*)?|\.0+)$/.test(text)) return { value: null }`,
    instead: String.raw`0*(0|\.0|0\.)0*$/.test(text)) return { value: null }`,
    also: longCells,
  },
  /** A signature check takes bodies of megabytes, and rewrites and signs them in one turn. */
  'signatures of any length are explained in one turn': {
    file: '/server/src/endpoints/integration/signature-check.ts',
    text: 'await yieldBetweenSteps(explainInSteps({ ...body, target }, secrets, now, atTheService))',
    instead: `${inOneTurn}(explainInSteps({ ...body, target }, secrets, now, atTheService))`,
    also: [
      { file: '/contract/src/signature-check.ts', text: 'maxLength: bodyBytesMax,', instead: '' },
      {
        file: '/contract/src/signature-check.ts',
        text: '(value) => value.length <= bodyBytesMax && encoder.encode(value).length <= bodyBytesMax,',
        instead: '(value) => encoder.encode(value).length > 0,',
      },
      {
        file: '/contract/src/limits.ts',
        text: 'signatureCheckBytesMax = 6 * bodyBytesMax + 32 * 1024',
        instead: 'signatureCheckBytesMax = 6 * 1024 * 1024',
      },
    ],
  },
  /** The search for a header compares every cell of every line with the known names, in one turn. */
  'headers are guessed in one turn': {
    file: '/server/src/tables/table-file.ts',
    text: 'await yieldBetweenSteps(',
    instead: `${inOneTurn}(`,
    also: [
      {
        file: '/server/src/tables/header-line.ts',
        text: '.slice(0, importColumnsMax)\n      .filter',
        instead: '.filter',
      },
      {
        file: '/server/src/tables/header-line.ts',
        text: 'knownNames([...new Set(possibleNames)])',
        instead: 'knownNames(possibleNames)',
      },
    ],
  },
  /** With this fault and the next five, the process is killed during its first start; PostgreSQL runs on. */
  'killed during initdb': {
    file: '/server/src/embedded-postgres/embedded-postgres.ts',
    text: "  let complaint = ''\n",
    instead: "  let complaint = ''\n  setTimeout(() => process.kill(process.pid, 'SIGKILL'), 100)\n",
  },
  'killed during a migration': {
    file: '/server/src/database/schema/migrate.ts',
    text: 'await distributeNewTables(client)\n',
    instead:
      "await distributeNewTables(client); if (migration.name.startsWith('0006')) process.kill(process.pid, 'SIGKILL')\n",
  },
  'killed before the first quote': {
    file: '/server/src/first-start.ts',
    text: 'await writeSample(transaction,',
    instead: "process.kill(process.pid, 'SIGKILL'); await writeSample(transaction,",
  },
  'killed amid the quotes': killedAmidQuotes,
  'killed after the last quote': {
    ...killedAmidQuotes,
    instead: killedAmidQuotes.instead.replace('lanes > 6_000', 'lanes === sample.laneCount'),
  },
  'killed before the credentials': {
    file: '/server/src/start.ts',
    text: 'const sample = await sampleAccess(',
    instead: "const sample = process.kill(process.pid, 'SIGKILL') && await sampleAccess(",
  },
  /** After an interrupted first start, the next start takes it for complete. */
  'a first start in two transactions': {
    file: '/server/src/first-start.ts',
    text: '  await database.inTenant(tenant, async (transaction) => {\n    if (!(await writeKeyCheck(transaction, keyCheck)))',
    instead:
      '  await database.outsideTenants((transaction) => writeKeyCheck(transaction, keyCheck))\n  await database.inTenant(tenant, async (transaction) => {\n    if (false)',
    also: [killedAmidQuotes],
  },
} as const satisfies Record<string, Fault>

export type FaultName = keyof typeof faults

/** Returns the Node option that plants a fault. */
export function planting(fault: FaultName): string {
  const file = new URL(import.meta.url)
  file.search = new URLSearchParams({ fault }).toString()
  return `--import=${file.href}`
}

/** All edits of a fault. */
export const editsOf = (fault: Fault): readonly Edit[] => [fault, ...(fault.also ?? [])]

const asked = new URL(import.meta.url).searchParams.get('fault')
if (asked !== null) {
  const fault = (faults as Record<string, Fault>)[asked]
  if (fault === undefined) throw new Error(`Unknown fault: ${asked}.`)
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      const edits = editsOf(fault).filter(({ file }) => url.endsWith(file))
      if (edits.length === 0) return loaded
      const source = edits.reduce((text, edit) => {
        if (!text.includes(edit.text))
          throw new Error(`${edit.file} does not contain the text that the fault "${asked}" replaces.`)
        return text.replace(edit.text, () => edit.instead)
      }, String(loaded.source))
      return { ...loaded, source }
    },
  })
}
