import bowser from 'bowser'

const userAgentLengthMax = 400
const nameLengthMax = 60

/**
 * A short name for the device of a request, from what it says of itself: the browser and the system without versions, so that an
 * update is not a new device. Other programs are called by the first word. A caller can send anything, so it only helps to recognize.
 *
 * @example deviceName('Mozilla/5.0 (Windows NT 10.0; ...) Chrome/120.0.0.0 Safari/537.36') // 'Chrome on Windows'
 * @example deviceName('curl/8.5.0') // 'curl'
 */
export function deviceName(userAgent: string | undefined): string {
  const text = (userAgent ?? '').slice(0, userAgentLengthMax).replaceAll(/[^\x20-\x7e]/g, '')
  if (text.trim() === '') return 'unknown device'
  const { browser, os } = bowser.parse(text)
  const name =
    browser.name === undefined || browser.name === ''
      ? (/^[\w.-]+/.exec(text)?.[0] ?? 'unknown device')
      : [browser.name, ...(os.name === undefined ? [] : [os.name])].join(' on ')
  return name.slice(0, nameLengthMax)
}
