import fc from 'fast-check'
import iconv from 'iconv-lite'
import { describe, expect, it } from 'vitest'
import { ImportFileError } from './refused.ts'
import { openTable } from './table-file.ts'
import { tablePieces } from './table-pieces.ts'

interface Read {
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly leftOut: readonly string[]
}

async function read(bytes: Uint8Array, encoding?: 'macintosh'): Promise<Read> {
  const file = await openTable([bytes], { vocabulary: 'quotes', encoding })
  const trimmed = (cells: readonly string[]) => cells.map((cell) => cell.trim())
  const rows: string[][] = []
  const leftOut: string[] = []
  for await (const piece of tablePieces(file)) {
    rows.push(...piece.rows.map(({ cells, malformed }) => (malformed ? ['malformed'] : trimmed(cells))))
    leftOut.push(...piece.leftOut.map(({ why, line }) => `${why} ${line}`))
  }
  return { header: trimmed(file.header), rows, leftOut }
}

const readText = (text: string) => read(Buffer.from(text))
const refusal = (bytes: Uint8Array) =>
  read(bytes).then(
    () => 'read',
    (error: Error) => (error instanceof ImportFileError ? error.message : Promise.reject(error)),
  )

const places = [
  'Dallas, TX',
  'Montréal, QC',
  'Cañon City, CO',
  'San José, CA',
  'Trois-Rivières, QC',
  'Québec, QC',
  'Monterrey, NL',
  'St. Paul, MN',
  'León, GT',
]
const knownHeader = [
  'Load ID',
  'Origin',
  'Destination',
  'Equipment',
  'Sell Rate',
  'Status',
  'Quote Date',
  'Customer',
]
const ownHeader = ['No.', 'Start', 'End', 'Equipment', 'Our offer', 'Result', 'Day', 'Came from']

/** A row whose words are also names of columns. */
const rowOf = fc.tuple(
  fc.integer({ min: 1, max: 99_999 }).map(String),
  fc.constantFrom(...places),
  fc.constantFrom(...places),
  fc.constantFrom('Truck', 'Van', 'Reefer', 'Equipment'),
  fc.constantFrom('1903', '1,903.50', '$2,150.00', '875.00', '1850 CAD'),
  fc.constantFrom('Won', 'Lost', 'Booked', 'Pending'),
  fc.constantFrom('2026-03-03', '3/1/2026', '3/1/2026 8:30 PM', 'Mar 3, 2026', '22-Nov-26'),
  fc.constantFrom('Account', 'Market', 'Pro', 'Acme', 'Café "Bélanger"', 'To'),
)

const shape = fc.record({
  rows: fc.array(rowOf, { minLength: 1, maxLength: 40 }),
  header: fc.constantFrom(knownHeader, ownHeader),
  titles: fc.array(
    fc.constantFrom(
      'Quotes of June',
      'Printed 7/1/2026',
      'Rate',
      'Market: Truck',
      '',
      'Customer: Acme',
      '2026',
    ),
    { maxLength: 4 },
  ),
  delimiter: fc.constantFrom(',', ';', '\t', '|'),
  newline: fc.constantFrom('\n', '\r\n', '\r'),
  quotes: fc.constantFrom('needed', 'all', 'after a blank'),
  encoding: fc.constantFrom('utf8', 'utf16le', 'windows-1252', 'macintosh', 'cp850', 'cp437'),
  ends: fc.constantFrom('', 'newline', 'feed', 'ctrl-z'),
})

type Shape = typeof shape extends fc.Arbitrary<infer Of> ? Of : never

function bytesOf({ rows, header, titles, delimiter, newline, quotes, encoding, ends }: Shape): Buffer {
  const cell = (text: string, at: number) => {
    const needed = text.includes(delimiter) || text.includes('"')
    const quoted = needed || quotes === 'all' ? `"${text.replaceAll('"', '""')}"` : text
    return quotes === 'after a blank' && at > 0 ? ` ${quoted}` : quoted
  }
  const lines = [...titles, ...[header, ...rows].map((cells) => cells.map(cell).join(delimiter))]
  const end = { '': '', newline, feed: '\n', 'ctrl-z': `${newline}\u001a` }[ends] ?? ''
  const text = `${lines.join(newline)}${end}`
  return encoding === 'utf16le' ? Buffer.from(`\ufeff${text}`, 'utf16le') : iconv.encode(text, encoding)
}

describe('a table of any form', () => {
  it('is read exactly, or refused because its encoding cannot be told', async () => {
    let refused = 0
    let tried = 0
    await fc.assert(
      fc.asyncProperty(shape, async (form) => {
        tried++
        const bytes = bytesOf(form)
        const found = await read(bytes).catch((error: Error) => error)
        if (found instanceof ImportFileError) {
          expect(found.problems[0]?.code).toBe('encoding')
          refused++
          return
        }
        expect(found).toEqual({ header: form.header, rows: form.rows, leftOut: [] })
      }),
      { numRuns: 600 },
    )
    expect(refused / tried).toBeLessThan(0.1)
  })
})

describe('the header', () => {
  it('is not a row whose words are also names of columns', async () => {
    const rows = [
      '1,"Dallas, TX","Atlanta, GA",Van,1900,Lost,2026-03-01,Mail',
      '2,"Dallas, TX","Atlanta, GA",Van,1901,Lost,2026-03-02,Mail',
      '3,"Dallas, TX","Atlanta, GA",Truck,1903,Won,2026-03-03,Account',
    ]
    const found = await readText(`${ownHeader.join(',')}\n${rows.join('\n')}\n`)
    expect(found.header).toEqual(ownHeader)
    expect(found.rows).toHaveLength(3)
  })

  it('is missing if every line has numbers', async () => {
    expect(await refusal(Buffer.from('1,"Dallas, TX",V,1900\n2,"Waco, TX",V,1800\n'))).toContain(
      'The file must have a header',
    )
  })

  it('is read from two rows', async () => {
    const text =
      'Origin,,Destination,,Equipment,Sell Rate\nCity,State,City,State,,\nDallas,TX,Atlanta,GA,V,1900\nDallas,TX,Waco,TX,V,900\n'
    const found = await readText(text)
    expect(found.header).toEqual([
      'Origin City',
      'Origin State',
      'Destination City',
      'Destination State',
      'Equipment',
      'Sell Rate',
    ])
    expect(found.rows).toHaveLength(2)
    const merged = text.replace('State,,\n', 'State,Equipment,Sell Rate\n')
    expect((await readText(merged)).header).toEqual(found.header)
  })

  it('in two rows that cannot be read together is named in the error', async () => {
    const text =
      'Here,,There,,Truck,Amount\nTown,Land,Town,Land,,\nDallas,TX,Atlanta,GA,V,1900\nWaco,TX,Reno,NV,V,1\n'
    expect(await refusal(Buffer.from(text))).toContain('The header has two rows (lines 1 and 2)')
  })

  it('gets the units of the row below it, unless they are the usual ones', async () => {
    const found = await readText(
      'Origin,Destination,Miles,Sell Rate\n,,(mi),(CAD)\nDallas TX,Waco TX,96,900\n',
    )
    expect(found.header).toEqual(['Origin', 'Destination', 'Miles', 'Sell Rate (CAD)'])
    expect(found.rows).toHaveLength(1)
    expect((await readText('Origin,Destination,Sell Rate\n,,(USD)\nDallas TX,Waco TX,900\n')).header).toEqual(
      ['Origin', 'Destination', 'Sell Rate'],
    )
  })
})

describe('lines that are no rows', () => {
  it('are left out below the header: pages, groups, totals and notes', async () => {
    const header = 'Origin,Destination,Equipment,Sell Rate'
    const text = `${header}\nCustomer: Acme\nDallas TX,Waco TX,V,900\n${header}\nDallas TX,Reno NV,V,2900\nTotal,,,3800\nFor internal use only\n`
    const found = await readText(text)
    expect(found.rows).toHaveLength(2)
    expect(found.leftOut).toEqual(['remark 2', 'header 4', 'total 6', 'remark 7'])
  })

  it('are not rows in one cell, which have another delimiter or are quoted as a whole', async () => {
    const found = await readText(
      'Origin,Destination,Equipment,Sell Rate\nDallas TX,Waco TX,V,900\nDallas TX;Waco TX;V;900\n"Dallas TX,Waco TX,V,900"\n',
    )
    expect(found.rows).toHaveLength(3)
    expect(found.leftOut).toEqual([])
  })
})

describe('line ends and blanks', () => {
  it('are counted outside of quotes: returns with a line feed in a cell', async () => {
    const found = await readText('Origin,Destination,Note\rDallas,Waco,"two\nlines"\rDallas,Reno,x\r\n')
    expect(found.header).toEqual(['Origin', 'Destination', 'Note'])
    expect(found.rows).toEqual([
      ['Dallas', 'Waco', 'two\nlines'],
      ['Dallas', 'Reno', 'x'],
    ])
  })

  it('before a quote are skipped, and other text is kept', async () => {
    const found = await readText('Origin,Destination,Note\nC1, "Dallas, TX", 5" pipe\nC2, "a" b,x\n')
    expect(found.rows).toEqual([
      ['C1', 'Dallas, TX', '5" pipe'],
      ['C2', '"a" b', 'x'],
    ])
  })
})

describe('another header below', () => {
  const head = 'Origin,Destination,Equipment,Quoted Rate'
  const row = 'Dallas TX,Waco TX,V,900'
  const cells = row.split(',')
  const malformed = ['malformed']

  it.each([
    ['the same columns in another order', 'Destination,Origin,Equipment,Quoted Rate'],
    ['a column more in between', 'ORIGIN,DESTINATION,CUSTOMER,EQUIPMENT,QUOTED RATE'],
    ['another column at the end', 'Origin,Destination,Equipment,Reason'],
  ])('with %s: its rows are not read by the columns of the first one', async (_, other) => {
    const text = [head, row, other, row, row, head, row].join('\n')
    const { rows } = await readText(text)
    expect(rows).toEqual([cells, malformed, malformed, malformed, cells])
  })
})

describe('single-byte encodings', () => {
  const text = 'Origin,Destination,Customer\n"Montréal, QC","Québec, QC",Café Bélanger\n'
  it.each(['windows-1252', 'macintosh', 'cp850', 'cp437'])('%s is recognized', async (encoding) => {
    const file = await openTable([iconv.encode(text, encoding)], { vocabulary: 'quotes' })
    // Both DOS encodings read these words alike.
    expect(file.encoding).toBe(encoding === 'cp437' ? 'cp850' : encoding)
    expect((await read(iconv.encode(text, encoding))).rows).toEqual([
      ['Montréal, QC', 'Québec, QC', 'Café Bélanger'],
    ])
  })

  it('that are as plausible are refused with their words, until one is chosen', async () => {
    const bytes = iconv.encode('Origin,Destination,Customer\nDallas TX,Waco TX,Maître\n', 'macintosh')
    const words = await refusal(bytes)
    expect(words).toContain('"Maître" (encoding=macintosh)')
    expect(words).toContain('"Maötre" (encoding=cp850)')
    expect((await read(bytes, 'macintosh')).rows).toEqual([['Dallas TX', 'Waco TX', 'Maître']])
  })

  it('are not guessed for UTF-32', async () => {
    const bytes = Buffer.from([...text].flatMap((sign) => [sign.charCodeAt(0), 0, 0, 0]))
    expect(await refusal(bytes)).not.toBe('read')
  })
})
