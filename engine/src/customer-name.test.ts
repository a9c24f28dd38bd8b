import { describe, expect, test } from 'vitest'
import { customerKey, nameVariants } from './customer-name.ts'
import { finished } from './steps.ts'

describe('the key of a name', () => {
  test.each([
    ['Harvest Table Foods', 'harvest table foods'],
    [' HARVEST\u00a0 table\tfoods ', 'harvest table foods'],
    ['Société Générale', 'société générale'],
    ['ÉCLAIR ΟΔΟΣ İ', 'éclair οδοσ i'],
  ])('%j has the key %j', (name, key) => {
    expect(customerKey(name)).toBe(key)
    expect(customerKey(key)).toBe(key)
  })

  test.each([
    ['Acme Foods', 'Acme Foods Inc'],
    ['Acme Foods', 'AcmeFoods'],
    ['Acme, Foods', 'Acme Foods'],
    ['Café Rio', 'Cafe Rio'],
  ])('%j and %j are two customers until a person merges them', (one, other) => {
    expect(customerKey(one)).not.toBe(customerKey(other))
    expect(finished(nameVariants([one, other]))).toHaveLength(1)
  })
})

describe('variants', () => {
  test('legal forms, punctuation, accents and "the" are offered as one reason', () => {
    const names = ['Acme Foods', 'ACME FOODS, INC.', 'The Acme-Foods Co., Ltd.', 'Acmé Foods LLC']
    expect(finished(nameVariants(names))).toEqual([
      { one: 0, other: 1, because: 'punctuation' },
      { one: 0, other: 2, because: 'punctuation' },
      { one: 0, other: 3, because: 'punctuation' },
    ])
  })

  test('a missing, wrong or swapped letter is a typo in a long name only', () => {
    expect(finished(nameVariants(['Harvest Table Foods', 'Harvst Table Foods']))).toMatchObject([
      { because: 'typo' },
    ])
    expect(finished(nameVariants(['Harvest Table Foods', 'Harvest Tabel Foods']))).toMatchObject([
      { because: 'typo' },
    ])
    expect(finished(nameVariants(['Harvest Table Foods', 'Harvest Cable Foods']))).toMatchObject([
      { because: 'typo' },
    ])
    expect(finished(nameVariants(['Acme', 'Acne']))).toEqual([])
    expect(finished(nameVariants(['Harvest Table Foods', 'Harvest Cabel Foods']))).toEqual([])
  })

  test('numbers are never typos', () => {
    expect(finished(nameVariants(['Warehouse Plant 1', 'Warehouse Plant 2', 'Warehouse Plant 12']))).toEqual(
      [],
    )
  })

  test('names without letters, and a name that is only a legal form, are compared as they are', () => {
    expect(finished(nameVariants(['---', '...', 'Inc', 'LLC', 'The']))).toEqual([])
  })

  test('a long name is compared in steps, and not letter by letter', () => {
    const long = 'Harvest Table Foods '.repeat(9)
    const steps = nameVariants([long, `x${long}`, `${long} Inc`])
    expect(steps.next().done).toBe(false)
    expect(finished(steps)).toEqual([{ one: 0, other: 2, because: 'punctuation' }])
  })

  test('three thousand names that differ by a letter or two are compared in a bounded time', () => {
    const names = Array.from({ length: 3_000 }, (_, at) => {
      const letters = String(at).replaceAll(/./g, (digit) => 'abcdefghij'[Number(digit)] ?? '')
      return `Shipper ${letters} of the long name`
    })
    expect(finished(nameVariants(names)).length).toBeLessThan(3_000 * 40)
  })
})
