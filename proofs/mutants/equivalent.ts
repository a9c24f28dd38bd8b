/** A mutant that changes no observable behavior, so no test can notice it. */
export interface Equivalent {
  readonly file: string
  /** The code on the line of the mutant, without spaces around it. */
  readonly line: string
  readonly replacement: string
  readonly reason: string
}

export const equivalents: readonly Equivalent[] = [
  {
    file: 'server/src/http/admission.ts',
    line: 'if (Object.keys(request.raw.headers).length * 2 === raw.length) return',
    replacement: '/',
    reason: 'a shortcut: without it, the loop below finds the same',
  },
  {
    file: 'server/src/operations/doctor.ts',
    line: "const { role = '', owns = false, is_service = false } = rows[0] ?? {}",
    replacement: 'true',
    reason: 'a default for a row that the query always returns',
  },
  {
    file: 'server/src/imports/exchange-file.ts',
    line: '.sort((one, other) => (one.day < other.day ? -1 : 1))',
    replacement: '<=',
    reason: 'the days are the keys of a map, so no two are equal',
  },
  {
    file: 'engine/src/backtest/backtest.ts',
    line: "forecasts.push({ p: forecastOf(test, quote), won: quote.outcome === 'won' })",
    replacement: 'unshift',
    reason: 'no measure depends on the order of the forecasts',
  },
  {
    file: 'engine/src/quote-outcome.ts',
    line: 'return one.decidedAt >= other.decidedAt ? one : other',
    replacement: '>',
    reason: 'statements that were signed in the same second, with the same time, are equal',
  },
  {
    file: 'server/src/signing/explain-signature.ts',
    line: 'skewSeconds < 0 ? setting.behind : setting.ahead,',
    replacement: '1',
    reason: 'a difference of at most 300 seconds returned before',
  },
]
