import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { threadMs } from '#testing/thread-time.ts'
import { type CsvRow, csvPieces, type FileBytes, ImportFileError, openCsv } from './csv-file.ts'

/** The bytes in pieces of a size that also splits characters. */
function inPieces(text: string | Buffer, pieceBytes = 64_001): Buffer[] {
  const bytes = Buffer.from(text)
  return Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, at) =>
    bytes.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  )
}

async function rowsIn(file: FileBytes) {
  const rows: CsvRow[] = []
  for await (const piece of csvPieces(await openCsv(file))) rows.push(...piece.rows)
  return rows
}

const rowsOf = (text: string | Buffer) => rowsIn(inPieces(text))

async function problemOf(bytes: Buffer | Buffer[]) {
  try {
    await openCsv(Array.isArray(bytes) ? bytes : inPieces(bytes, 3))
  } catch (error) {
    if (error instanceof ImportFileError) return error.problems[0]
    throw error
  }
  throw new Error('The file was taken.')
}

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
    expect((await openCsv(inPieces(text, 1))).header.map((name) => name.trim())).toEqual(['a', 'b'])
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

  it.each(['"a"b,c\n', '"a\n', '"a"b\n'])(
    'is done with a file of nothing but %j in a moment',
    async (row) => {
      const begun = threadMs()
      const rows = await rowsOf(`a,b\n${row.repeat(50_000)}`)
      // A parser that restarts after each misplaced quote takes minutes and blocks other requests.
      expect(threadMs() - begun).toBeLessThan(2_000)
      expect(rows.filter(({ malformed }) => malformed)).toHaveLength(50_000)
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
      Buffer.from('id,city\n1,Dallas\n2,Montr'),
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

  it('reports that UTF-16 and workbooks are not CSV in UTF-8', async () => {
    expect((await problemOf(Buffer.from('\ufeffa,b\n', 'utf16le')))?.detail).toContain('UTF-16')
    expect((await problemOf(Buffer.from('PK\u0003\u0004rest', 'latin1')))?.detail).toContain('workbook')
  })

  it('rejects a header with a NUL, in UTF-16 without a byte-order mark or anywhere', async () => {
    const wanted = { code: 'header', row: 1, detail: expect.stringContaining('a NUL') as string }
    expect(await problemOf(Buffer.from('a,b\n', 'utf16le'))).toMatchObject(wanted)
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

  it('rejects a small file that unpacks to more than the limit, without holding the unpacked content', async () => {
    const bomb = gzipSync(Buffer.alloc(129 * 1024 * 1024, 'a,b\n'))
    let most = 0
    const before = process.memoryUsage().arrayBuffers
    const watched = {
      *[Symbol.iterator]() {
        for (const piece of inPieces(bomb, 4_096)) {
          most = Math.max(most, process.memoryUsage().arrayBuffers - before)
          yield piece
        }
      },
    }
    const { detail } = (await openCsv(watched).catch(({ problems }: ImportFileError) => problems[0])) as {
      detail: string
    }
    expect(detail).toContain('at most 128 MiB when unpacked')
    // Other tests of the same process allocate meanwhile, some megabytes.
    expect(most).toBeLessThan(100 * 1024 * 1024)
  })

  it('rejects a file that grew or shrank after it was opened', async () => {
    const pieces = inPieces(`a,b\n${'1,2\n'.repeat(9_000)}`)
    const shorter = await openCsv(pieces)
    const readOn = async (bytes: FileBytes) => {
      for await (const _ of csvPieces({ ...shorter, bytes }));
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
