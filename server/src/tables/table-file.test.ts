import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { threadMs } from '#testing/thread-time.ts'
import type { FileBytes } from './file-bytes.ts'
import { ImportFileError } from './refused.ts'
import { openTable } from './table-file.ts'
import { tablePieces } from './table-pieces.ts'
import type { TableRow } from './text-rows.ts'

const open = (file: FileBytes) => openTable(file, { vocabulary: 'quotes' })

/** The bytes in pieces of a size that also splits characters. */
function inPieces(text: string | Buffer, pieceBytes = 64_001): Buffer[] {
  const bytes = Buffer.from(text)
  return Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, at) =>
    bytes.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  )
}

async function rowsIn(file: FileBytes) {
  const rows: TableRow[] = []
  for await (const piece of tablePieces(await open(file))) rows.push(...piece.rows)
  return rows
}

/** 129 MiB in equal parts of one, so that the test itself does not hold them. */
const bomb = () => Buffer.concat(new Array<Buffer>(129).fill(gzipSync(Buffer.alloc(1024 * 1024, 'a,b\n'))))

const rowsOf = (text: string | Buffer) => rowsIn(inPieces(text))

async function problemOf(bytes: Buffer | Buffer[]) {
  try {
    await open(Array.isArray(bytes) ? bytes : inPieces(bytes, 3))
  } catch (error) {
    if (error instanceof ImportFileError) return error.problems[0]
    throw error
  }
  throw new Error('The file was taken.')
}

/** The turns of the event loop while `work` runs, in which requests would be served. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await work()
  isOver = true
  return turns
}

/** A large file as it is received: in few pieces, all in memory. */
const received = (text: string | Buffer) => inPieces(text, 1024 * 1024)
const head = 'origin,destination,equipment,quoted_rate\n'

describe('requests run while a large file is read, although all of it is in memory', () => {
  it.each([
    ['one line that never ends', `${head}${'x'.repeat(1_000_000)}`],
    ['a quote that is never closed', `${head}"${'x'.repeat(1_000_000)}`],
    ['NULs', `${head}${'\0'.repeat(1_000_000)}`],
    ['line ends only', `${head}${'\n'.repeat(1_000_000)}`],
    ['separators only', `${head}${','.repeat(1_000_000)}`],
    ['rows', `${head}${'"Dallas, TX","Atlanta, GA",V,2000\n'.repeat(30_000)}`],
    [
      'another encoding',
      Buffer.from(`${head}${'"Montr\u00e9al, QC","Atlanta, GA",V,2000\n'.repeat(30_000)}`, 'latin1'),
    ],
  ])('%s', async (_, text) => {
    const quantity = Buffer.from(text).length / (64 * 1024)
    // The reader waits for nothing else, and stops at no row.
    const reading = async () => {
      const table = await open(received(text))
      const opened = await turnsDuring(async () => {
        for await (const _ of tablePieces(table));
      })
      expect(opened).toBeGreaterThan(quantity)
    }
    expect(await turnsDuring(reading)).toBeGreaterThan(2 * quantity)
  })
})

describe('reading a file', () => {
  it.each([
    ['commas', 'a,b\n1,2\n'],
    ['semicolons', 'a;b\n1;2\n'],
    ['tabs', 'a\tb\n1\t2\n'],
    ['bars', 'a|b\n1|2'],
    ['CRLF', 'a,b\r\n1,2\r\n'],
    ['CR alone', 'a,b\r1,2\r'],
    ['a byte-order mark', '\ufeffa,b\n1,2\n'],
    ['quoted values', '"a","b"\r\n"1","2"\r\n'],
    ["Excel's separator line", 'sep=;\r\na;b\r\n1;2\r\n'],
    ['blank lines', '\n\na,b\n\n1,2\n,\n\n'],
  ])('takes %s', async (_, text) => {
    expect((await open(inPieces(text, 1))).header.map((name) => name.trim())).toEqual(['a', 'b'])
    expect((await rowsOf(text)).map(({ cells }) => cells.map((cell) => cell.trim()))).toEqual([['1', '2']])
  })

  it('reports the line of each row, also after quoted line breaks', async () => {
    const text = 'a,"b\nc"\n1,"two\r\nlines"\n\n3,4\n'
    expect((await rowsOf(text)).map(({ line }) => line)).toEqual([3, 6])
  })

  it('loses nothing at the boundary of two pieces', async () => {
    const cities = ['Montréal', 'San José', '"Ciudad, ""Juárez"""']
    const lines = Array.from({ length: 20_000 }, (_, index) => `${index},${cities[index % 3]}`)
    const rows = await rowsOf(`id,city\n${lines.join('\n')}`)
    expect(rows).toHaveLength(20_000)
    expect(rows.every(({ cells, line }, index) => cells[0] === String(index) && line === index + 2)).toBe(
      true,
    )
    expect(rows[20_000 - 18]?.cells[1]).toBe('Ciudad, "Juárez"')
  })

  it('rejects only the line with misplaced quotes', async () => {
    const text = 'a,b\n1,2\n"5" pipe,2\n3,4\n"x ""y"" z",6\n7,"8\n9,10\n'
    expect(await rowsOf(text)).toEqual([
      { line: 2, cells: ['1', '2'], malformed: false },
      { line: 3, cells: [], malformed: true },
      { line: 4, cells: ['3', '4'], malformed: false },
      { line: 5, cells: ['x "y" z', '6'], malformed: false },
      { line: 6, cells: [], malformed: true },
      { line: 7, cells: ['9', '10'], malformed: false },
    ])
  })

  const onlyQuotes = ['"a"b,c\n', '"a\n', '"a"b\n']
  it.each(onlyQuotes)('rejects each line of a file of nothing but %j', async (row) => {
    const rows = await rowsOf(`a,b\n${row.repeat(50_000)}`)
    expect(rows.filter(({ malformed }) => malformed)).toHaveLength(50_000)
  })
  it.each(onlyQuotes)(
    'is done with a file of nothing but %j in a moment',
    { tags: 'measure' },
    async (row) => {
      const begun = threadMs()
      await rowsOf(`a,b\n${row.repeat(50_000)}`)
      // A parser that restarts after each misplaced quote takes minutes and blocks other requests.
      expect(threadMs() - begun).toBeLessThan(2_000)
    },
  )

  it('continues after an unclosed quote in a large file', async () => {
    const rows = await rowsOf(`a,b\n1,"open\n${'x,y\n'.repeat(100_000)}`)
    expect(rows).toHaveLength(100_001)
    expect(rows[0]).toEqual({ line: 2, cells: [], malformed: true })
    expect(rows.at(-1)).toEqual({ line: 100_002, cells: ['x', 'y'], malformed: false })
  })
})

describe('refusing a file', () => {
  it('names the line and column of bytes that are not UTF-8', async () => {
    const bytes = Buffer.concat([
      Buffer.from('id,city\n1,Québec City, Québec\n2,Montr'),
      Buffer.from([0xe9]),
      Buffer.from('al\n'),
    ])
    expect(await problemOf(bytes)).toEqual({
      code: 'encoding',
      row: 3,
      column: 'city',
      detail: expect.stringContaining('line 3, column "city"'),
    })
  })

  it('reports workbooks of Excel 97 and PDFs, with the remedy', async () => {
    const problem = await problemOf(Buffer.from('\u00d0\u00cf\u0011\u00e0rest', 'latin1'))
    expect(problem?.detail).toContain('Save it as .xlsx')
    expect((await problemOf(Buffer.from('%PDF-1.7')))?.detail).toContain('PDF')
  })

  it('rejects a header with a NUL', async () => {
    const wanted = { code: 'header', row: 1, detail: expect.stringContaining('a NUL') as string }
    expect(await problemOf(Buffer.from('a,b\0\n1,2\n'))).toMatchObject(wanted)
    expect(await problemOf(Buffer.from('\na,b\0\n1,2\n'))).toMatchObject({ row: 2 })
    expect(await rowsOf('a,b\n1,\0\n')).toHaveLength(1)
  })

  it('refuses an empty file', async () => {
    expect((await problemOf(Buffer.from('')))?.detail).toContain('it is empty')
    expect((await problemOf(Buffer.from('\n\n')))?.detail).toContain('it is empty')
  })
})

describe('unpacking', () => {
  it('detects gzip by its content, for any boundaries of pieces', async () => {
    const text = `a,b\n${'Montréal,2\n'.repeat(30_000)}`
    for (const pieceBytes of [1, 7, 1_000_000]) {
      expect(await rowsIn(inPieces(gzipSync(text), pieceBytes))).toHaveLength(30_000)
    }
  })

  it('rejects half a gzip file', async () => {
    const half = gzipSync(Buffer.from('a,b\n1,2\n')).subarray(0, 15)
    expect((await problemOf(half))?.detail).toContain('must be complete')
  })

  it('rejects a small file that unpacks to more than the limit', { tags: 'long' }, async () => {
    expect((await problemOf(inPieces(bomb(), 4_096)))?.detail).toContain('at most 128 MiB when unpacked')
  })

  it('does not hold the unpacked content of such a file', { tags: 'measure' }, async () => {
    const pieces = inPieces(bomb(), 4_096)
    const before = process.memoryUsage().arrayBuffers
    let most = 0
    const looking = setInterval(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    }, 1)
    await expect(open(pieces)).rejects.toThrow(ImportFileError)
    clearInterval(looking)
    // What is no longer used is freed now and then.
    expect(most).toBeLessThan(100 * 1024 * 1024)
  })

  it('rejects a file that grew or shrank after it was opened', async () => {
    const pieces = inPieces(`a,b\n${'1,2\n'.repeat(9_000)}`)
    const shorter = await open(pieces)
    const readOn = async (bytes: FileBytes) => {
      for await (const _ of tablePieces({ ...shorter, bytes }));
    }
    await expect(readOn(pieces.slice(0, -1))).rejects.toThrow('it was changed')
    await expect(readOn([...pieces, Buffer.from('3,4\n')])).rejects.toThrow('it was changed')
    await readOn(pieces)
  })
})

describe('a line that is not UTF-8', () => {
  it('is reported without a column when it is too long to be a row', async () => {
    const long = Buffer.concat([
      Buffer.from('a,b\n1,'),
      Buffer.alloc(200_000, 'é'),
      Buffer.from([0xe9, 0x0a]),
    ])
    expect(await problemOf([long.subarray(0, 90_001), long.subarray(90_001)])).toMatchObject({
      row: 2,
      column: null,
    })
  })
})

describe('the encoding of a file', () => {
  const text = 'Origin,Customer\nMontréal,Côté & Fils\nSão Paulo,“Ärzte”\n'
  const rows = [
    ['Montréal', 'Côté & Fils'],
    ['São Paulo', '“Ärzte”'],
  ]
  const inWindows1252 = Buffer.from(text.replaceAll('“', '\x93').replaceAll('”', '\x94'), 'latin1')
  const bigEndian = (of: string) => Buffer.from(of, 'utf16le').swap16()
  it.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a byte-order mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16, as Excel saves "Unicode text"', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16 without a byte-order mark', Buffer.from(text, 'utf16le')],
    ['UTF-16 with the high byte first', bigEndian(`\ufeff${text}`)],
    ['Windows-1252, as Excel saves "CSV"', inWindows1252],
    ['Windows-1252, compressed', gzipSync(inWindows1252)],
  ])('is found: %s', async (_, bytes) => {
    for (const pieceBytes of [1, 7, 64_001]) {
      const read = await rowsIn(inPieces(bytes, pieceBytes))
      expect(read.map(({ cells }) => cells)).toEqual(rows)
    }
  })

  it('is stated when it was guessed', async () => {
    expect((await open(inPieces(inWindows1252))).encoding).toBe('windows-1252')
    expect((await open(inPieces(text))).encoding).toBe('utf-8')
  })

  it('is not guessed for UTF-8 that was damaged', async () => {
    const damaged = Buffer.concat([Buffer.from('a,b\né,ü\n1,'), Buffer.from([0xe9, 0x0a])])
    expect(await problemOf(damaged)).toMatchObject({ code: 'encoding', row: 3 })
  })
})

describe('the header of a file', () => {
  const opened = (text: string) => open(inPieces(text))

  it('is the line with the most known names, below titles and blank lines', async () => {
    const text = 'Quotes of June;;\n\nPrinted 7/1/2026;;\nOrigin;Destination;Rate\nDallas, TX;Waco, TX;900\n'
    const { header, rowsStart, samples, delimiter } = await opened(text)
    expect({ header, samples, delimiter }).toEqual({
      header: ['Origin', 'Destination', 'Rate'],
      samples: [['Dallas, TX', 'Waco, TX', '900']],
      delimiter: ';',
    })
    expect(rowsStart.line).toBe(5)
    expect(await rowsOf(text)).toEqual([
      { line: 5, cells: ['Dallas, TX', 'Waco, TX', '900'], malformed: false },
    ])
  })

  it('is the first line as wide as the table if no name is known', async () => {
    const { header } = await opened('My loads\n\nOur From,Our To,$\nDallas,Waco,900\n')
    expect(header).toEqual(['Our From', 'Our To', '$'])
  })

  it('is the first line if it is as wide as the others', async () => {
    expect((await opened('x,y\nOrigin,1\n')).header).toEqual(['x', 'y'])
  })

  it('decides the delimiter, also if its title contains another', async () => {
    const { delimiter } = await opened('Loads, quotes, and wins\nOrigin\tDestination\nDallas, TX\tWaco, TX\n')
    expect(delimiter).toBe('\t')
  })
})

describe('totals', () => {
  it.each(['Total,,1200', '"Grand Total",,"$1,200.00"', 'Subtotal:,,(300)', 'Totals (12),,1200,48%'])(
    'are left out: %s',
    async (line) => {
      expect(await rowsOf(`Origin,Destination,Rate,Margin\nDallas,Waco,900\n${line}\n`)).toHaveLength(1)
    },
  )

  it('are not loads of a customer or a place whose name begins with Total', async () => {
    const rows = await rowsOf('Customer,Origin,Rate\nTotal Wine,Dallas,900\nTotal,Dallas,900\n')
    expect(rows).toHaveLength(2)
  })
})
