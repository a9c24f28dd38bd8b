import { describe, expect, test } from 'vitest'
import { unknownPlacesLookedUpMax } from '#contract/limits.ts'
import { readPlace } from '#engine/place.ts'
import type { NewQuote } from '../database/queries/index.ts'
import { lanePlaces } from '../quotes/index.ts'
import { UnknownPlaces } from './place-notes.ts'

/** The sentences about a file whose first row, in line 2, is the first lane. */
async function sentences(lanes: readonly (readonly [string, string])[]): Promise<string[]> {
  const places = new UnknownPlaces()
  for (const [at, [from, to]] of lanes.entries()) {
    const [origin, destination] = [readPlace(from), readPlace(to)]
    if (origin === null || destination === null) throw new Error(`${from} to ${to} is no lane.`)
    places.add(at + 2, lanePlaces(origin, destination, null) as NewQuote)
  }
  await places.lookUp()
  expect(places.notes.every(({ code }) => code === 'unknown_places')).toBe(true)
  return places.notes.map(({ detail }) => detail)
}

describe('unknown places of a file', () => {
  test('known places in any spelling say nothing', async () => {
    expect(
      await sentences([
        ['Dallas, TX', 'Skokie village, IL'],
        ['st pete, fl', 'Monterrey, NL'],
      ]),
    ).toEqual([])
  })

  test('a misspelled place is named with its line, its rows and what it may mean', async () => {
    expect(
      await sentences([
        ['Dallas, TX', 'Chigaco, IL'],
        ['Chigaco, IL', 'Dallas, TX'],
        ['CHIGACO, Illinois', 'Dallas, TX'],
      ]),
    ).toEqual([
      '1 place in 3 rows is not known and is stored as written.',
      '"Chigaco, IL" (line 2 and 2 more rows) is not known. Did you mean Chicago, IL?',
    ])
  })

  test('a place without a similar one, and the number of a site, are only counted and named', async () => {
    expect(await sentences([['Qqqxyzzy Xqwwq, TX', '12345 A, LA']])).toEqual([
      '2 places in 1 row are not known and are stored as written, such as "Qqqxyzzy Xqwwq, TX" (line 2), "12345 A, LA" (line 2).',
    ])
  })

  test('many places are counted, the first are named, and few are looked up', async () => {
    const letters = 'bcdfghjkmnpqrvwxz'.split('')
    const unknown = letters.flatMap((one) => letters.map((other) => `Jacksonville${one}${other}, FL`))
    const said = await sentences(unknown.map((name) => [name, 'Dallas, TX']))
    expect(said[0]).toBe('289 places in 289 rows are not known and are stored as written.')
    expect(said.slice(1, 6).every((one) => one.endsWith('Did you mean Jacksonville, FL?'))).toBe(true)
    expect(said.slice(6)).toEqual([`${unknownPlacesLookedUpMax - 5} more places may be misspelled, too.`])
  })
})
