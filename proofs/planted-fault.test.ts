import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { faults } from './planted-fault.ts'

// A fault that cannot be planted any more is found when its proof is played, after minutes; here, at once.
test.each(Object.entries(faults))('%s can be planted', (_name, { file, text }) => {
  expect(readFileSync(new URL(`..${file}`, import.meta.url), 'utf8').split(text)).toHaveLength(2)
})
