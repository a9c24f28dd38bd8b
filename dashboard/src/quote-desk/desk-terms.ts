import { useSession } from '../api/index.ts'
import {
  basisNames,
  converted,
  dollars,
  noTerms,
  onOwnTerms,
  readDollars,
  termsInWords,
  useRateConversion,
} from '../shared-ui/index.ts'
import { type DeskLane, hasState } from './desk-draft.ts'

/** A lane as it is compared with the other quotes of the brokerage. */
export interface ComparedLane {
  /** Whether the lane is quoted in Canadian dollars, while the advice is in US dollars. */
  readonly isCad: boolean
  /** With its amounts on the terms of the brokerage. Without amounts while they cannot be converted. */
  readonly lane: DeskLane
  /** A rate of the advice on the terms of the lane; null while it cannot be converted. */
  readonly own: (rate: number) => number | null
  /** How the typed rate was converted to the basis of the advice, or what is missing for it; null if it needs no conversion. */
  readonly converted: string | null
  /** Why a typed rate is not compared; null if it is, or if none is typed. */
  readonly notCompared: string | null
}

const byWords = {
  charges: 'by its charges',
  schedule: 'by the fuel schedule of today',
  exchange: 'by the exchange rate of today',
} as const

/**
 * What is missing to convert the amounts of a lane, and what to do.
 *
 * @example missingFor({ ...noTerms, currency: 'CAD' }, 'all_in').what // 'the exchange rate of today'
 */
export function missingFor(
  { basis, fuel, currency }: Pick<DeskLane, 'basis' | 'fuel' | 'currency'>,
  assumed: 'linehaul' | 'all_in',
): { readonly what: string; readonly remedy: string } {
  const needsExchange = currency === 'CAD'
  const needsFuel = basis !== '' && basis !== assumed && fuel.trim() === ''
  const [exchange, charge] = ['the exchange rate of today', 'the fuel charge']
  const load = 'Load exchange rates under Fuel and currency in the settings'
  if (!needsExchange) {
    return { what: charge, remedy: 'Enter the fuel charge, or load a fuel schedule in the settings.' }
  }
  return needsFuel
    ? { what: `${exchange} or ${charge}`, remedy: `${load}, and enter the fuel charge.` }
    : { what: exchange, remedy: `${load}.` }
}

/** Converts the typed amounts of a lane to the default basis in US dollars, on which the advice compares them. */
export function useComparedLane(lane: DeskLane, customer: string): ComparedLane {
  const { default_basis: assumed } = useSession().tenant
  const isComplete = hasState(lane.origin) && hasState(lane.destination)
  const conversion = useRateConversion({ ...lane, customer }, lane, isComplete)
  const usual = `${basisNames[assumed]}, in US dollars`
  const [rate, cost] = [readDollars(lane.rate), readDollars(lane.cost)]
  const isCad = lane.currency === 'CAD'
  const stated = `Your ${rate === null ? 'rate' : dollars(rate)} (${termsInWords(lane, assumed)})`
  if (conversion === undefined || conversion === null) {
    const missing = missingFor(lane, assumed)
    return {
      isCad,
      lane: { ...lane, rate: '', cost: '', market: '' },
      own: () => null,
      converted: conversion === undefined ? null : `Numbers are ${usual}. ${missing.remedy}`,
      notCompared:
        rate === null
          ? null
          : conversion === undefined
            ? `${stated} is compared as soon as the service has converted it.`
            : `${stated} cannot be compared: ${missing.what} is not known.`,
    }
  }
  const text = (amount: number | null) => (amount === null ? '' : String(converted(conversion, amount)))
  const isSame = conversion.times === 1 && conversion.plus === 0
  return {
    isCad,
    lane: isSame ? lane : { ...lane, rate: text(rate), cost: text(cost), market: '', ...noTerms },
    own: (of) => onOwnTerms(conversion, of),
    notCompared: null,
    converted:
      isSame || conversion.by === null
        ? null
        : rate === null
          ? `Numbers are ${usual}.`
          : `Numbers are ${usual}. ${stated} is ${dollars(converted(conversion, rate))}, converted ${byWords[conversion.by]}.`,
  }
}
