/** One row of the evaluation table: a measure, its value and the limits that it must be within. */
export interface Bar {
  readonly check: string
  readonly measure: string
  readonly value: number
  readonly least?: number
  readonly most?: number
}

export function passes(bar: Bar): boolean {
  return (
    bar.value >= (bar.least ?? Number.NEGATIVE_INFINITY) &&
    bar.value <= (bar.most ?? Number.POSITIVE_INFINITY)
  )
}

/** The acceptance limits in words. @example limitOf({ check: '', measure: '', value: 1, most: 2 }) // 'at most 2' */
export function limitOf(bar: Bar): string {
  const [least, most] = [bar.least, bar.most].map((limit) => limit && Number(limit.toFixed(4)))
  if (least !== undefined && most !== undefined) return `${least} to ${most}`
  return least === undefined ? `at most ${most}` : `at least ${least}`
}
