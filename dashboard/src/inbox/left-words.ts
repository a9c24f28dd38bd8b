const hourMs = 3_600_000

/** How much time is left until a moment, in words. @example leftWords(end) // '3 hours left' */
export function leftWords(end: string, now = Date.now()): string {
  const hours = (Date.parse(end) - now) / hourMs
  if (hours < 1) return `${Math.max(0, Math.round(hours * 60))} minutes left`
  return hours < 48 ? `${Math.round(hours)} hours left` : `${Math.round(hours / 24)} days left`
}
