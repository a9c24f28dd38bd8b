/**
 * What do the brokerage's other lanes say about a lane with few quotes, or with none? The scopes (state pairs, region pairs and the
 * brokerage) form a tree with the lanes as leaves. Each child sends its scope a message: what its outcomes say about the win curves
 * there. A scope adds these up, and tells a lane what all the others say. Method: belief propagation (Pearl, 1982; the messages are
 * in tree.ts).
 * docs/estimate-formulas.md, "What a lane takes from other lanes".
 */

import type { LaneIdentity } from '../quotes/lane-identity.ts'
import type { Steps } from '../steps.ts'
import { BANK_SIZE } from './curve-bank.ts'
import {
  addMessageUp,
  emptyLikelihood,
  messageDown,
  messageUp,
  rootBelief,
  SCOPE_KINSHIP,
  scaledLikelihood,
} from './tree.ts'
import { addInto, difference } from './vector.ts'

/** A scope of the tree above the lanes. The root is the brokerage, which has no parent. */
export interface ScopeModel {
  readonly name: string
  readonly key: string
  readonly parent: ScopeModel | null
  /** The sum of the messages of the scope's children. */
  readonly total: Float64Array
  /** The belief of all other scopes about its lanes; computed when it is first needed. */
  fromAbove: Float64Array | null
  decided: number
  /** The decided quotes without losses that are not about the price. */
  byPrice: number
  won: number
  lanes: number
  /** The decided quotes of the other rate type that the total includes, each with the weight that it counts with. */
  borrowed: number
}

/** The brokerage and every scope below it. */
export interface ScopeTree {
  readonly tenant: ScopeModel
  /**
   * The scopes by path: the keys of their wider scopes, widest first, and their own. See `scopePath`. Parents come before their children.
   */
  readonly scopes: Map<string, ScopeModel>
}

/** The narrowest scope of a lane. Scopes that do not exist yet are added to the tree. */
export function scopePath({ tenant, scopes }: ScopeTree, lane: Pick<LaneIdentity, 'scopes'>): ScopeModel {
  let parent = tenant
  let path = ''
  for (const { name, key } of lane.scopes) {
    path += `/${key}`
    const known = scopes.get(path)
    const scope = known ?? emptyScope(name, key, parent)
    if (!known) scopes.set(path, scope)
    parent = scope
  }
  return parent
}

export function emptyScope(name: string, key: string, parent: ScopeModel | null): ScopeModel {
  return {
    name,
    key,
    parent,
    total: new Float64Array(BANK_SIZE),
    fromAbove: null,
    decided: 0,
    byPrice: 0,
    won: 0,
    lanes: 0,
    borrowed: 0,
  }
}

/** Adds the message of every scope to the total of the scope above it. */
export function* sendScopes({ scopes }: ScopeTree): Steps<void> {
  const likelihood = emptyLikelihood()
  // Parents are created before their children, so the reverse order visits children first.
  for (const scope of [...scopes.values()].reverse()) {
    if (!scope.parent || isSilent(scope)) continue
    scaledLikelihood(scope.total, likelihood)
    addMessageUp(scope.parent.total, likelihood, SCOPE_KINSHIP)
    yield
  }
}

/** Whether a scope has no outcomes, so that it sends no message. */
function isSilent({ decided, borrowed }: ScopeModel): boolean {
  return decided === 0 && borrowed === 0
}

/** The belief about the lanes of a scope from all quotes outside it. */
export function beliefFromAbove(scope: ScopeModel): Float64Array {
  if (!scope.fromAbove) {
    if (scope.parent) {
      const parent = beliefFromAbove(scope.parent)
      const ownMessage = isSilent(scope) ? new Float64Array(BANK_SIZE) : messageUp(scope.total, SCOPE_KINSHIP)
      addInto(parent, difference(scope.parent.total, ownMessage))
      scope.fromAbove = messageDown(parent, SCOPE_KINSHIP)
    } else {
      scope.fromAbove = rootBelief()
    }
  }
  return scope.fromAbove.slice()
}

/** The narrowest scope of a lane. Unlike `scopePath`, it does not change the tree: a scope without quotes is a new empty one. */
export function scopeOf({ tenant, scopes }: ScopeTree, lane: LaneIdentity): ScopeModel {
  let parent = tenant
  let path = ''
  for (const { name, key } of lane.scopes) {
    path += `/${key}`
    parent = scopes.get(path) ?? emptyScope(name, key, parent)
  }
  return parent
}
