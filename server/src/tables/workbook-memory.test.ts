import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import { afterAll, beforeAll, expect, test } from 'vitest'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lanewise-memory-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Opens a file as the service does, and prints the most memory of it and of its child process together, in bytes, and the outcome. */
const opening = `
  import { readFileSync } from 'node:fs'
  import { openTable } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)}
  const residentOf = (pid) => {
    try { return Number(/VmRSS:\\s+(\\d+)/.exec(readFileSync('/proc/' + pid + '/status', 'utf8'))[1]) * 1024 } catch { return 0 }
  }
  let most = 0
  setInterval(() => {
    const children = readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').trim().split(' ').filter(Boolean)
    most = Math.max(most, [process.pid, ...children].reduce((sum, pid) => sum + residentOf(pid), 0))
  }, 5).unref()
  const opened = openTable([readFileSync(process.argv[1])], { vocabulary: 'quotes' })
  const said = await opened.then(() => 'read', (error) => error.problems[0].detail)
  process.stdout.write(said + '\\n' + most)`

function open(name: string, bytes: Uint8Array): { said: string; most: number } {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  const options = ['--input-type=module', '-e', opening, path]
  const [said = '', most] = execFileSync(process.execPath, options, { encoding: 'utf8' }).split('\n')
  return { said, most: Number(most) }
}

const workbook = (sheet: Uint8Array) =>
  zipSync(
    {
      'xl/workbook.xml': Buffer.from('<w xmlns:r="r"><sheets><sheet name="S" r:id="a"/></sheets></w>'),
      'xl/_rels/workbook.xml.rels': Buffer.from(
        '<r><Relationship Id="a" Type="t/worksheet" Target="worksheets/sheet1.xml"/></r>',
      ),
      'xl/worksheets/sheet1.xml': sheet,
    },
    { level: 1 },
  )

test('a workbook takes at most 300 MB more than its rows as CSV', { tags: 'measure' }, () => {
  const texts = (cells: readonly string[]) =>
    `<row>${cells.map((cell) => `<c t="inlineStr"><is><t>${cell}</t></is></c>`).join('')}</row>`
  const row = (at: number) => Array.from({ length: 14 }, (_, column) => `Dallas, TX ${at} ${column}`)
  const header = ['Origin', 'Destination', 'Rate']
  const rows = [header, ...Array.from({ length: 100_000 }, (_, at) => row(at))]
  const csv = open('a.csv', Buffer.from(rows.map((cells) => `"${cells.join('","')}"`).join('\n')))
  const read = open('a.xlsx', workbook(Buffer.from(`<x>${rows.map(texts).join('')}</x>`)))
  const empty = `<row>${'<c/>'.repeat(10)}</row>`
  const many = Buffer.alloc(empty.length * 600_000, empty)
  const refused = open('b.xlsx', workbook(Buffer.concat([Buffer.from('<x>'), many, Buffer.from('</x>')])))
  expect([csv.said, read.said, refused.said]).toEqual([
    'read',
    'read',
    expect.stringContaining('5,000,000 cells'),
  ])
  for (const { most } of [read, refused]) expect(most - csv.most).toBeLessThan(300e6)
})
