import { expect, test } from 'vitest'
import { requireBuiltDashboard } from './find-browser.ts'

test('browser tests without a built dashboard end at once, and say how to build it', () => {
  expect(() => requireBuiltDashboard(null, 'digest')).toThrow('`npm run build`')
  expect(() => requireBuiltDashboard('digest', 'digest')).not.toThrow()
})
