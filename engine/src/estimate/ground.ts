/**
 * Is there enough to go on for a chance and a rate to quote? A win curve needs rates that customers accepted and rates that they
 * refused: wins alone say that any rate wins, losses alone that none does, and an undecided quote says only what was asked.
 * Existence of the estimate needs both outcomes (Albert and Anderson, "On the existence of maximum likelihood estimates in logistic
 * regression models", Biometrika 71, 1984); what the prior adds is no evidence to price by.
 * docs/model-estimate.md, "Enough to go on".
 */

import type { LaneIdentity } from '../quotes/lane-identity.ts'
import type { Estimator } from './estimator.ts'
import { outcomesBehind } from './outcomes-behind.ts'

/**
 * Why there is no chance and no rate to quote. `no_quotes`: the brokerage has none. `no_ground`: an end of the lane is no known place,
 * and the lane has too few decided quotes. `no_outcomes`, `only_won`, `only_lost`: the brokerage has no decided quotes, none that was lost
 * on price, or none that was won.
 */
export type NoGround = 'no_quotes' | 'no_ground' | 'no_outcomes' | 'only_won' | 'only_lost'

/**
 * A lane whose distance is not measured, because an end is no known place, has a going rate and a chance from this many decided quotes of
 * its own on. Typed miles are not enough: with a misspelled city, they may be those of another lane.
 */
const OWN_GROUND_MIN = 5

/** Whether the other lanes of a brokerage say something about a lane, or its own decided quotes do. */
export function isPlaced({ decided, isMeasured }: { decided: number; isMeasured: boolean }): boolean {
  return isMeasured || decided >= OWN_GROUND_MIN
}

/** Which outcomes are missing for a win curve; null if there are wins and losses. Quotes of the other rate type count if they are used. */
export function missingOutcomes(
  estimator: Estimator,
  lane: LaneIdentity,
): Exclude<NoGround, 'no_quotes' | 'no_ground'> | null {
  const own = outcomesBehind(estimator, lane).all
  const other = estimator.borrowing === null ? null : outcomesBehind(estimator.borrowing.from, lane).all
  const won = own.won + (other?.won ?? 0)
  const lost = own.byPrice - own.won + (other === null ? 0 : other.byPrice - other.won)
  if (won > 0 && lost > 0) return null
  if (won > 0) return 'only_won'
  return lost > 0 ? 'only_lost' : 'no_outcomes'
}
