import { describe, expect, test } from 'vitest'
import { passes } from './src/bar.ts'
import { mailBars } from './src/mails-check.ts'

describe('lanes read from written mails', () => {
  test('80 mails in forty layouts: at least 90 % of the lanes are complete, and nothing is silently wrong', () => {
    expect(mailBars(7, 80, 20).filter((bar) => !passes(bar))).toEqual([])
  })

  test('500 mails in forty layouts', { tags: 'long' }, () => {
    expect(mailBars(11).filter((bar) => !passes(bar))).toEqual([])
  })
})
