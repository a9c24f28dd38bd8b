import type { Metrics, Traces } from './watching.ts'

/** Used when metrics are off. */
export const noMetrics: Metrics = {
  answered: () => {},
  refused: () => {},
  counting: (_name, limit) => limit,
  countingTenants: (limit) => limit,
  transaction: () => () => {},
}

/** Used when traces are off. */
export const noTraces: Traces = {
  begin: () => null,
  within: (_span, work) => work(),
  transaction: () => () => {},
}
