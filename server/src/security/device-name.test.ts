import { expect, test } from 'vitest'
import { deviceName } from './device-name.ts'

const chrome = (version: number, system: string) =>
  `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`

test.each([
  [chrome(120, 'Windows NT 10.0; Win64; x64'), 'Chrome on Windows'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox on Linux'],
  ['lanewise-client/0.3.0', 'lanewise-client'],
  ['curl/8.5.0', 'curl'],
  [undefined, 'unknown device'],
  ['', 'unknown device'],
  ['<script>alert(1)</script>', 'unknown device'],
])('%j is %s', (userAgent, name) => {
  expect(deviceName(userAgent)).toBe(name)
})

test('an update of the browser is not a new device', () => {
  expect(deviceName(chrome(121, 'Windows NT 10.0'))).toBe(deviceName(chrome(120, 'Windows NT 10.0')))
})

test('a long name is cut, and breaks no line', () => {
  const name = deviceName(`${'x'.repeat(5_000)}\r\n\u202e`)
  expect(name).toMatch(/^x{60}$/)
})
