import { expect, test } from 'vitest'
import { readEquipment } from './read-equipment.ts'

test.each([
  ['Dry Van', 'V'],
  ["53' van", 'V'],
  ['REEFER', 'R'],
  ['flat bed', 'F'],
  ['Step deck', 'SD'],
  ['drop deck', 'SD'],
  [' van_dry_53 ', 'V'],
  [' curtain_side ', 'curtain_side'],
  ['HS', 'HS'],
])("equipment names become codes, and a brokerage's own codes stay as typed: %s", (typed, read) => {
  expect(readEquipment(typed)).toBe(read)
})
