import type { Metrics, Traces } from './watching.ts'

export const noMetrics: Metrics = {
  answered: () => {},
  refused: () => {},
  counting: (_name, limit) => limit,
  countingTenants: (limit) => limit,
  transaction: () => () => {},
}

export const noTraces: Traces = {
  begin: () => null,
  within: (_span, work) => work(),
  transaction: () => () => {},
}
