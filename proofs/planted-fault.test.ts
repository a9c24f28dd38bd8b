import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { editsOf, faults } from './planted-fault.ts'

// A proof would report a fault that can no longer be planted only after minutes. This test reports it at once.
test.each(Object.entries(faults))('%s can be planted', (_name, fault) => {
  for (const { file, text } of editsOf(fault)) {
    expect(readFileSync(new URL(`..${file}`, import.meta.url), 'utf8').split(text)).toHaveLength(2)
  }
})
