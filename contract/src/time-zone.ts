/**
 * The IANA name of a time zone, in its usual spelling; null for any other text. An offset such as +05:00 does not know
 * daylight-saving time, and an abbreviation such as EST names another zone than people mean, so neither is accepted.
 *
 * @example timeZoneNamed('america/chicago') // 'America/Chicago'
 */
export function timeZoneNamed(name: string): string | null {
  if (!/^(UTC|[A-Za-z][\w+-]*(\/[\w+-]+)+)$/i.test(name)) return null
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return null
  }
}
