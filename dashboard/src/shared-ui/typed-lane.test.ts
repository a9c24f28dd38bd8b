import { expect, test } from 'vitest'
import { equipmentRead } from './typed-lane.ts'

test.each([
  ['Dry Van', 'V'],
  ["53' van", 'V'],
  ['REEFER', 'R'],
  ['flat bed', 'F'],
  ['Step deck', 'SD'],
  [' van_dry_53 ', 'van_dry_53'],
  ['HS', 'HS'],
])("equipment that is written out becomes its code, and a brokerage's own codes stay: %s", (typed, read) => {
  expect(equipmentRead(typed)).toBe(read)
})
