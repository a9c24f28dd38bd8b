/** The values of a metric, each with its labels. */
export type Values = readonly (readonly [labels: Record<string, string>, value: number])[]

/** A metric without labels. */
export const one = (value: number): Values => [[{}, value]]

/**
 * A metric with one label.
 *
 * @example each('state', { idle: 3, in_use: 1 }) // [[{ state: 'idle' }, 3], [{ state: 'in_use' }, 1]]
 */
export const each = (label: string, values: Readonly<Record<string, number>>): Values =>
  Object.entries(values).map(([name, value]) => [{ [label]: name }, value])

/** Registers metrics whose values are read when Prometheus scrapes them. */
export interface ReadOnScrape {
  /** A counter: a number that only grows. */
  total(name: string, help: string, labelNames: readonly string[], read: () => Values): void
  /** A gauge: a current number. */
  level(name: string, help: string, labelNames: readonly string[], read: () => Values | Promise<Values>): void
}
