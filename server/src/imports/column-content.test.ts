import { expect, it } from 'vitest'
import { SameId } from './column-content.ts'
import { readColumns } from './columns.ts'
import { openImport } from './import-file.ts'

const numbers = (count: number, of: (nth: number) => number | string) =>
  Array.from({ length: count }, (_, nth) => of(nth))

/** Opens a file whose rate column has this name and these cells. */
const opened = (name: string, cells: readonly (number | string)[], map?: string) => {
  const rows = cells.map((cell) => `"Dallas, TX","Atlanta, GA",V,2026-03-01,"${cell}"\n`)
  const text = `Origin,Destination,Equipment,Quote Date,${name}\n${rows.join('')}`
  return openImport([Buffer.from(text)], map)
}

it.each([
  ['ids that count up', 'Quote', numbers(5, (nth) => 4100 + nth)],
  ['ids that count down', 'Bid', numbers(60, (nth) => 4100 - nth)],
  ['ids with gaps', 'Sell Rate', numbers(10, (nth) => 4100 + nth * 2 + (nth % 2))],
  ['ids in a column whose name was guessed', 'Price', numbers(12, (nth) => 4100 + nth)],
])('%s are not read as rates, unless the map says so', async (_, name, cells) => {
  await expect(opened(name, cells)).rejects.toThrow(
    new RegExp(`^The column "${name}" would be .*its cells look like ids: ${cells.slice(0, 3).join(', ')}`),
  )
  const { doubts } = await opened(name, cells, 'quoted_rate=#5')
  expect(doubts).toMatchObject([{ code: 'content', column: name }])
})

it.each([
  ['rates', 'Quote', [1800, 2450, 1750, 2100, 1990, 1991]],
  ['equal rates', 'Quote', numbers(20, () => 2100)],
  ['rates in order', 'Quote', numbers(20, (nth) => 1800 + nth * 25)],
  ['a few rates that happen to count', 'Quote', [2100, 2101, 2102, 2103]],
  ['amounts with a dollar sign', 'Quote', numbers(20, (nth) => `$${2100 + nth}`)],
  ['a column with the name of its field', 'quoted_rate', numbers(20, (nth) => 2100 + nth)],
])('%s are not in doubt', async (_, name, cells) => {
  expect((await opened(name, cells)).doubts).toEqual([])
})

it.each([
  ['Quote #', 'Rate', 'reference'],
  ['Quote#', 'Sell', 'reference'],
  ['Load #', 'Sell', 'reference'],
])('%s beside %s is an id', (id, rate, field) => {
  const read = readColumns(['Origin', 'Destination', 'Equipment', 'Date', id, rate], 'quoted_rate=#6')
  expect('columns' in read && read.columns.names[field as 'reference']).toBe(id)
})

it('a number of a bid is no rate', () => {
  const read = readColumns(['Origin', 'Destination', 'Equipment', 'Quote Date', 'Bid #'])
  expect('problems' in read && read.problems[0]?.detail).toContain('No column has the rate')
})

it('asks about a column of ids with one value in all rows', () => {
  const notesOf = (ids: readonly (string | null)[]) => {
    const same = new SameId()
    for (const id of ids) same.add(id)
    return same.notes('Contract')
  }
  expect(notesOf(['C-1', 'C-1', null, 'C-1', 'C-1', 'C-1'])).toMatchObject([
    { column: 'Contract', choices: [{ map: 'reference=' }] },
  ])
  expect(notesOf(['C-1', 'C-1', 'C-1', 'C-1', 'C-2'])).toEqual([])
  expect(notesOf(['C-1', 'C-1'])).toEqual([])
})
