import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blankQuote, withQuotes } from './desk-draft.ts'

const { id: _, ...typed } = { ...blankQuote(0), origin: 'Dallas, TX' }

test('each row of a draft has an id of its own, whichever rows were removed before others were added', () => {
  const steps = fc.array(fc.record({ removed: fc.nat(20), added: fc.integer({ min: 1, max: 4 }) }), {
    maxLength: 8,
  })
  fc.assert(
    fc.property(steps, (all) => {
      let quotes = withQuotes([], [typed, typed, typed])
      for (const { removed, added } of all) {
        quotes = withQuotes(
          quotes.filter((_quote, place) => place !== removed % quotes.length),
          Array.from({ length: added }, () => typed),
        )
        expect(new Set(quotes.map(({ id }) => id)).size).toBe(quotes.length)
      }
    }),
  )
})
