import { describe, expect, test } from 'vitest'
import { blankLane } from './desk-draft.ts'
import { reasonsToConfirm, totalsOf } from './desk-lanes-advice.ts'

test('the total of several lanes never adds Canadian to US dollars', () => {
  const row = (rate: string, currency: 'USD' | 'CAD') => ({
    lane: { ...blankLane(1), rate, currency },
    advice: null,
  })
  expect(totalsOf([row('2420', 'USD'), row('2000', 'CAD')])).toMatchObject({ rated: 2, rate: null })
  expect(totalsOf([row('2420', 'USD'), row('2000', 'USD')])).toMatchObject({ rated: 2, rate: 4420 })
})

describe('before a rate is saved, the desk', () => {
  const asItIs = { times: 1, plus: 0, by: null }
  const low = { code: 'below_cost', detail: '$1,900 is below your cost.' } as never
  const refused = { code: 'needs-approval', detail: '' } as never

  test('asks about a rate that cannot be compared, such as Canadian dollars without an exchange rate', () => {
    expect(reasonsToConfirm({ warnings: [], outside_rules: [], conversion: null })).toEqual([
      expect.stringContaining('could not be compared'),
    ])
  })

  test('asks once: not about a rate that a rule refuses, which leads to the question about the approval', () => {
    expect(reasonsToConfirm({ warnings: [low], outside_rules: [], conversion: asItIs })).toHaveLength(1)
    expect(reasonsToConfirm({ warnings: [low], outside_rules: [refused], conversion: null })).toEqual([])
    expect(reasonsToConfirm({ warnings: [], outside_rules: [], conversion: asItIs })).toEqual([])
  })
})
