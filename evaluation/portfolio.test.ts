import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Certificate } from '#engine/portfolio/certificate.ts'
import { simulatedFalseAlarms, tenderedOnSimulated } from './src/awards-check.ts'
import { againstLaneByLane, chosenRates, sameAsBruteForce, simulatedBid } from './src/portfolio-check.ts'

test('the rates of small bids are those found by trying everything, with a bound that proves it', () => {
  expect(sameAsBruteForce(80)).toBe(80)
})

test('rates chosen together are never below lane by lane, and at least 3 % above where caps bind', () => {
  for (const { capsBind, more } of againstLaneByLane(4, 1))
    expect(more).toBeGreaterThanOrEqual(capsBind ? 0.03 : 0)
})

test('the rates of a large bid are within 0.5 % of the bound without more than one look', () => {
  const bid = simulatedBid({ seed: 3, lanes: 600, rates: 15, regions: 8, capShare: 0.6 })
  const { marginCents, boundCents } = chosenRates(bid, { casesMax: 1 })
  expect(marginCents).toBeGreaterThan(0.995 * boundCents)
})

test('the sentinel raises at most one false alarm in ten lane-years of simulated flat lanes', () => {
  expect(
    simulatedFalseAlarms({ deviation: 0.03, persistence: 0.4, move: 0.03 }, { lanes: 3, seed: 5 }),
  ).toBeLessThan(1)
})

test('the ranges of tendered shares hold, and the shares are nearer to the truth than without shrinking', () => {
  const { within80, againstOwn, againstUsual } = tenderedOnSimulated(60, 2)
  expect(within80).toBeGreaterThan(0.72)
  expect(againstOwn).toBeLessThan(1)
  expect(againstUsual).toBeLessThan(1)
})

describe('recipes/verify-portfolio.mjs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanewise-portfolio-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const program = new URL('../recipes/verify-portfolio.mjs', import.meta.url).pathname
  const verified = (certificate: unknown) => {
    const file = join(folder, 'certificate.json')
    writeFileSync(file, JSON.stringify(certificate))
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, file], { encoding: 'utf8' })
    return { status, text: stdout + stderr }
  }
  const bid = simulatedBid({ seed: 8, lanes: 12, rates: 5, regions: 2, capShare: 0.5, seasonal: true })
  const { certificate } = chosenRates({
    ...bid,
    limits: { ...bid.limits, marginShareMin: 0.1, loadsMin: 1, laneMarginShareMin: 0.01 },
  })

  test('verifies a certificate with cases to the cent', () => {
    expect('lane' in certificate.proof).toBe(true)
    const { status, text } = verified(certificate)
    expect(text).toContain(`VERIFIED: expected margin $${(certificate.marginCents / 100).toFixed(2)}`)
    expect(status).toBe(0)
  })

  const firstPrices = (proof: Certificate['proof']): string[] =>
    'prices' in proof ? (proof.prices as string[]) : firstPrices(proof.at_most)
  test.each<[string, RegExp, (copy: { -readonly [key in keyof Certificate]: Certificate[key] }) => void]>([
    ['a larger margin', /expected margin/, (copy) => (copy.marginCents += 1)],
    ['a smaller bound', /bound/, (copy) => (copy.boundCents -= 1)],
    [
      'a higher chance of an award',
      /expected margin|exceeded|bound/,
      (copy) => {
        const nth = copy.chosen.findIndex((place) => place !== null)
        Object.assign(copy.lanes[nth]?.menu[copy.chosen[nth] ?? 0] as object, { award: 0.99 })
      },
    ],
    [
      'rates beyond a cap',
      /exceeded/,
      (copy) => {
        copy.limits = {
          ...copy.limits,
          caps: (copy.limits.caps ?? []).map((cap) => ({ ...cap, loadsPerWeek: 0.1 })),
        }
      },
    ],
    ['a price below zero', /at least 0/, (copy) => (firstPrices(copy.proof)[0] = '-1')],
    [
      'a case left out',
      /bound/,
      (copy) => {
        if ('lane' in copy.proof) copy.proof = copy.proof.at_most
        copy.boundCents -= 1
      },
    ],
  ])('refuses a certificate with %s', (_, message, change) => {
    const copy = structuredClone(certificate)
    change(copy)
    const { status, text } = verified(copy)
    expect(text).toMatch(message)
    expect(status).toBe(1)
  })
})
