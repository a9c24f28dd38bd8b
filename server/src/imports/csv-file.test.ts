import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { csvPieces, ImportFileError, openCsv, unpackFile } from './csv-file.ts'

function rowsOf(text: string | Buffer) {
  return [...csvPieces(openCsv(Buffer.from(text)))].flatMap(({ rows }) => rows)
}

function problemOf(bytes: Buffer) {
  try {
    openCsv(bytes)
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
  ])('takes %s', (_, text) => {
    expect(openCsv(Buffer.from(text)).header.map((name) => name.trim())).toEqual(['a', 'b'])
    expect(rowsOf(text).map(({ cells }) => cells.map((cell) => cell.trim()))).toEqual([['1', '2']])
  })

  it('gives each row its line in the file, also after quoted line breaks', () => {
    const text = 'a,"b\nc"\n1,"two\r\nlines"\n\n3,4\n'
    expect(rowsOf(text).map(({ line }) => line)).toEqual([3, 6])
  })

  it('loses nothing where a piece of the file ends', () => {
    const cities = ['Montréal', 'San José', '"Ciudad, ""Juárez"""']
    const lines = Array.from({ length: 20_000 }, (_, index) => `${index},${cities[index % 3]}`)
    const rows = rowsOf(`id,city\n${lines.join('\n')}`)
    expect(rows).toHaveLength(20_000)
    expect(rows.every(({ cells, line }, index) => cells[0] === String(index) && line === index + 2)).toBe(
      true,
    )
    expect(rows[20_000 - 18]?.cells[1]).toBe('Ciudad, "Juárez"')
  })

  it('refuses only the line whose quotes are wrong', () => {
    const text = 'a,b\n1,2\n"5" pipe,2\n3,4\n"x ""y"" z",6\n7,"8\n9,10\n'
    expect(rowsOf(text)).toEqual([
      { line: 2, cells: ['1', '2'], malformed: false },
      { line: 3, cells: [], malformed: true },
      { line: 4, cells: ['3', '4'], malformed: false },
      { line: 5, cells: ['x "y" z', '6'], malformed: false },
      { line: 6, cells: [], malformed: true },
      { line: 7, cells: ['9', '10'], malformed: false },
    ])
  })

  it.each(['"a"b,c\n', '"a\n', '"a"b\n'])('is done with a file of nothing but %j in a moment', (row) => {
    const begun = performance.now()
    const rows = rowsOf(`a,b\n${row.repeat(50_000)}`)
    // Asked again from each wrong quote on, a parser takes minutes, and nobody else is answered meanwhile.
    expect(performance.now() - begun).toBeLessThan(2_000)
    expect(rows.filter(({ malformed }) => malformed)).toHaveLength(50_000)
  })

  it('goes on after a quote that is never closed in a large file', () => {
    const rows = rowsOf(`a,b\n1,"open\n${'x,y\n'.repeat(100_000)}`)
    expect(rows).toHaveLength(100_001)
    expect(rows[0]).toEqual({ line: 2, cells: [], malformed: true })
    expect(rows.at(-1)).toEqual({ line: 100_002, cells: ['x', 'y'], malformed: false })
  })
})

describe('refusing a file', () => {
  it('names the line and column of bytes that are not UTF-8', () => {
    const bytes = Buffer.concat([
      Buffer.from('id,city\n1,Dallas\n2,Montr'),
      Buffer.from([0xe9]),
      Buffer.from('al\n'),
    ])
    expect(problemOf(bytes)).toEqual({
      code: 'encoding',
      row: 3,
      column: 'city',
      detail: expect.stringContaining('line 3, column "city"'),
    })
  })

  it('says that UTF-16 and workbooks are not CSV in UTF-8', () => {
    expect(problemOf(Buffer.from('\ufeffa,b\n', 'utf16le'))?.detail).toContain('UTF-16')
    expect(problemOf(Buffer.from('PK\u0003\u0004rest', 'latin1'))?.detail).toContain('workbook')
  })

  it('refuses a header with a NUL, in UTF-16 without a mark or anywhere', () => {
    const wanted = { code: 'header', row: 1, detail: expect.stringContaining('a NUL') as string }
    expect(problemOf(Buffer.from('a,b\n', 'utf16le'))).toMatchObject(wanted)
    expect(problemOf(Buffer.from('a,b\0\n1,2\n'))).toMatchObject(wanted)
    expect(problemOf(Buffer.from('\na,b\0\n1,2\n'))).toMatchObject({ row: 2 })
    expect(rowsOf('a,b\n1,\0\n')).toHaveLength(1)
  })

  it('refuses an empty file', () => {
    expect(problemOf(Buffer.from(''))?.detail).toContain('it is empty')
    expect(problemOf(Buffer.from('\n\n'))?.detail).toContain('it is empty')
  })
})

describe('unpacking', () => {
  it('unpacks gzip by its content and leaves the rest as it is', async () => {
    const text = Buffer.from('a,b\n1,2\n')
    expect(await unpackFile(gzipSync(text))).toEqual(text)
    expect(await unpackFile(text)).toBe(text)
  })

  it('refuses half a gzip file', async () => {
    await expect(unpackFile(gzipSync(Buffer.from('a,b\n1,2\n')).subarray(0, 15))).rejects.toThrow(
      'must be whole',
    )
  })

  it('refuses a small file that unpacks to more than is taken', async () => {
    await expect(unpackFile(gzipSync(Buffer.alloc(129 * 1024 * 1024)))).rejects.toThrow('at most 128 MiB')
  })
})
