import { betaQuantile } from '../statistics/beta.ts'

/** What became of an awarded lane so far. */
export interface AwardRecord {
  readonly customer: string
  /** The loads that the award promised until now. */
  readonly awardedLoads: number
  /** The loads that were tendered until now. */
  readonly tenderedLoads: number
}

/** The share of its awarded loads that a customer tenders. */
export interface TenderedShare {
  readonly share: number
  /** The 80 % range of the share, over many lanes of the customer. */
  readonly low: number
  readonly high: number
  /** The customer's awarded lanes that promised a load or more until now, and those of them without one tender. */
  readonly lanes: number
  readonly ghostLanes: number
  /** The share of the customer's own record, null without one, and the share that the brokerage's other customers let expect. */
  readonly own: number | null
  readonly usual: number
}

/** "Half of it" counts as much as this many lanes of other customers. */
const NO_RECORD_LANES = 2
/** How many lanes the usual share of customers counts like before their differences are known, and how many customers that counts like. */
const USUAL_LANES = 6
const USUAL_CUSTOMERS = 4
/** The usual share never counts like fewer lanes, or more. */
const USUAL_LANES_LEAST = 2
const USUAL_LANES_MOST = 40

/** A customer's lanes as a sample: the mean share by volume, and how many equal lanes they count like. */
interface Sample {
  readonly mean: number
  readonly lanes: number
}

/**
 * The loads of a lane are tendered or not together, so a record counts by lanes: by volume, with the effective number of lanes of Kish
 * (1965), (sum w)^2 / sum w^2. A lane that is tendered more than was awarded counts as fully tendered.
 */
function sampleOf(records: readonly AwardRecord[]): Sample | null {
  let volume = 0
  let squares = 0
  let tendered = 0
  for (const { awardedLoads, tenderedLoads } of records) {
    if (!(awardedLoads > 0)) continue
    volume += awardedLoads
    squares += awardedLoads * awardedLoads
    tendered += Math.min(awardedLoads, Math.max(0, tenderedLoads))
  }
  return volume === 0 ? null : { mean: tendered / volume, lanes: (volume * volume) / squares }
}

/**
 * P(tendered | awarded) of a customer: of the loads that it awards, the share that it tenders. Many awarded lanes never ship ("ghost
 * lanes"). The customer's own record is shrunk to the share of the brokerage's other customers by a beta-binomial model: the usual
 * share counts like as many lanes as the differences between the customers justify (method of moments), so a customer with a long
 * record keeps its own share, and one without a record has the usual one, with a wide range. Null if there is no record at
 * all: then nothing is known, and the caller decides what to assume.
 *
 * @example tenderedShare([{ customer: 'acme', awardedLoads: 10, tenderedLoads: 4 }], 'acme')?.share // 0.4666...
 */
export function tenderedShare(records: readonly AwardRecord[], customer: string): TenderedShare | null {
  const byCustomer = Map.groupBy(records, (one) => one.customer)
  const samples = new Map<string, Sample>()
  for (const [name, of] of byCustomer) {
    const sample = sampleOf(of)
    if (sample !== null) samples.set(name, sample)
  }
  if (samples.size === 0) return null
  const own = samples.get(customer) ?? null
  const others = [...samples].flatMap(([name, sample]) => (name === customer ? [] : [sample]))
  const weight = NO_RECORD_LANES + others.reduce((sum, { lanes }) => sum + lanes, 0)
  const usual =
    (0.5 * NO_RECORD_LANES + others.reduce((sum, { lanes, mean }) => sum + lanes * mean, 0)) / weight
  const counts = usualLanes(others, usual)
  const [for_, against] = [
    counts * usual + (own === null ? 0 : own.lanes * own.mean),
    counts * (1 - usual) + (own === null ? 0 : own.lanes * (1 - own.mean)),
  ]
  const due = (byCustomer.get(customer) ?? []).filter(({ awardedLoads }) => awardedLoads >= 1)
  return {
    share: for_ / (for_ + against),
    low: betaQuantile(0.1, for_, against),
    high: betaQuantile(0.9, for_, against),
    lanes: due.length,
    ghostLanes: due.filter(({ tenderedLoads }) => !(tenderedLoads > 0)).length,
    own: own === null ? null : own.mean,
    usual,
  }
}

/**
 * How many lanes the usual share counts like: m (1 - m) / v - 1 of a beta distribution with mean m and variance v. The variance is that of
 * the customers' shares, less what their few lanes explain (DerSimonian and Laird 1986), averaged with the usual one, plus that
 * of the usual share itself.
 */
function usualLanes(samples: readonly Sample[], usual: number): number {
  const total = samples.reduce((sum, { lanes }) => sum + lanes, 0)
  const whole = usual * (1 - usual)
  let between = 0
  let customers = 0
  if (samples.length > 1) {
    const squares = samples.reduce((sum, { lanes }) => sum + lanes * lanes, 0)
    const mean = samples.reduce((sum, one) => sum + one.lanes * one.mean, 0) / total
    const spread = samples.reduce((sum, one) => sum + one.lanes * (one.mean - mean) ** 2, 0)
    customers = samples.length - 1
    between = Math.max(0, (spread - customers * mean * (1 - mean)) / (total - squares / total))
  }
  const before = whole / (USUAL_LANES + 1)
  const variance =
    (USUAL_CUSTOMERS * before + customers * between) / (USUAL_CUSTOMERS + customers) +
    whole / (NO_RECORD_LANES + total)
  return Math.min(USUAL_LANES_MOST, Math.max(USUAL_LANES_LEAST, whole / variance - 1))
}
