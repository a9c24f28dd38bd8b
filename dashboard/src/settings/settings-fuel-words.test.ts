import { expect, test } from 'vitest'
import { draftOf, emptyPeriod, ruleInWords, sentPeriod } from './settings-fuel-words.ts'

const base = { ...emptyPeriod(), from: '2026-01-01' }
const none = { in_force: true, until: null, base_price: null, miles_per_gallon: null, steps: null }

test('two columns of a spreadsheet are steps, and a text that is no number is sent, so that the service names it', () => {
  const pasted = '$3.00\t$0.30\n\n 3.5;0.35 \nfour 0.4'
  expect(sentPeriod({ ...base, kind: 'steps', steps: pasted })).toEqual({
    from: '2026-01-01',
    steps: [
      { diesel_price: 3, per_mile: 0.3 },
      { diesel_price: 3.5, per_mile: 0.35 },
      { diesel_price: 'four', per_mile: 0.4 },
    ],
  })
  expect(sentPeriod({ ...base, base: '1,20', milesPerGallon: '' })).toEqual({
    from: '2026-01-01',
    base_price: '1,20',
    miles_per_gallon: undefined,
  })
})

test('a saved period, edited without a change, is sent as it was saved', () => {
  const steps = [{ diesel_price: 3.005, per_mile: 0.3 }]
  const stepped = { ...none, from: '2026-01-01', until: '2026-06-30', steps }
  expect(sentPeriod(draftOf(stepped))).toEqual({ from: '2026-01-01', until: '2026-06-30', steps })
  expect(ruleInWords(stepped)).toBe('$0.300 from $3.005')
  const formula = { ...none, from: '2026-01-01', base_price: 1.2, miles_per_gallon: 6.5 }
  expect(sentPeriod(draftOf(formula))).toEqual({ from: '2026-01-01', base_price: 1.2, miles_per_gallon: 6.5 })
  expect(ruleInWords(formula)).toBe('(diesel − $1.200) / 6.5 mpg')
})
