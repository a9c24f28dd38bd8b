import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, test } from 'vitest'
import { dollars, percent, ratePerMile, roundDollars, signedDollars, signedPercent } from './formats.ts'
import { Margin, MarginPct } from './margin.tsx'

describe('a negative number', () => {
  test('has the same minus sign in every format, U+2212 before the dollar sign', () => {
    expect(
      [dollars(-161), dollars(-161.5), roundDollars(-160.6), signedDollars(-161), ratePerMile(-0.21)].map(
        (text) => text.replace('\u2212', '<minus>'),
      ),
    ).toEqual(['<minus>$161', '<minus>$161.50', '<minus>$161', '<minus>$161', '<minus>$0.21/mi'])
    expect([percent(-8.5), signedPercent(-8.5)]).toEqual(['\u22128.5%', '\u22128.5%'])
  })

  test('has it before the sign of a currency, too', () => {
    expect([roundDollars(-160.6, 'USD'), roundDollars(2149.6, 'CAD'), roundDollars(null, 'CAD')]).toEqual([
      '\u2212US$161',
      'CA$2,150',
      '–',
    ])
  })

  test('that rounds to zero has no sign', () => {
    expect([roundDollars(-0.3), percent(-0.04), dollars(-0)]).toEqual(['$0', '0.0%', '$0'])
  })
})

test('a positive difference has a plus sign, and an unknown value is a dash', () => {
  expect([signedDollars(60), signedPercent(1.25), dollars(2150), percent(14.76)]).toEqual([
    '+$60',
    '+1.3%',
    '$2,150',
    '14.8%',
  ])
  expect([dollars(null), roundDollars(undefined), percent(null), signedDollars(null)]).toEqual([
    '–',
    '–',
    '–',
    '–',
  ])
})

test('a margin below zero is marked as a loss, in dollars and in percent', () => {
  const shown = (amount: number | null) =>
    renderToStaticMarkup(createElement(Margin, { amount })) +
    renderToStaticMarkup(createElement(MarginPct, { share: amount }))
  expect(shown(-161)).toBe('<span class="loss">\u2212$161</span><span class="loss">\u2212161.0%</span>')
  expect(shown(161)).toBe('$161161.0%')
  expect(shown(0)).toBe('$00.0%')
  expect(shown(null)).toBe('––')
})
