import { expect, test } from 'vitest'
import { equipmentRead, placeRead } from './desk-typed.ts'

test.each([
  ['Dallas TX', 'Dallas, TX'],
  ['fort worth, tx 76101', 'fort worth, tx 76101'],
  ['Toronto ON', 'Toronto, ON'],
  ['El Paso tx 79901', 'El Paso, TX 79901'],
  ['Fort Worth', 'Fort Worth'],
  ['La Jo', 'La Jo'],
  ['', ''],
])('a place gets the comma that was left out, and no other change: %s', (typed, read) => {
  expect(placeRead(typed)).toBe(read)
})

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
