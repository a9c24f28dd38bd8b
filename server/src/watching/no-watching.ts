import type { Metrics, Traces } from './watching.ts'

/** Nobody asked for metrics. */
export const noMetrics: Metrics = {
  answered: () => {},
  fromMemory: () => () => {},
  refused: () => {},
  counting: (_name, limit) => limit,
  countingTenants: (limit) => limit,
  transaction: () => () => {},
}

/** Nobody asked for traces. */
export const noTraces: Traces = {
  begin: () => null,
  within: (_span, work) => work(),
  transaction: () => () => {},
}
