import { type AuditGroup, type AuditKind, auditGroups, auditKinds } from '#contract/audit-kinds.ts'
import type { Query } from '../api/index.ts'
import type { AddressParams, Period } from '../shared-ui/index.ts'

export type AuditSelection = Query<'export-audit-events'>

/** The event filter in the address: a kind, a group of kinds, or '' for all events. */
export function whatOf({ what = '' }: AddressParams): AuditKind | AuditGroup | '' {
  return [...auditGroups, ...auditKinds].find((known) => known === what) ?? ''
}

/** True when a filter other than the period is set. */
export function isFiltered(search: AddressParams): boolean {
  return whatOf(search) !== '' || whoOf(search) !== undefined
}

function whoOf({ who }: AddressParams): number | undefined {
  return /^[1-9]\d{0,8}$/.test(who ?? '') ? Number(who) : undefined
}

/** The filters of the log as API parameters. The export uses the same parameters. */
export function selectionOf(search: AddressParams, { from, to }: Period): AuditSelection {
  const [what, who] = [whatOf(search), whoOf(search)]
  const group = auditGroups.find((known) => known === what)
  const kind = auditKinds.find((known) => known === what)
  return {
    ...(group === undefined ? {} : { group }),
    ...(kind === undefined ? {} : { kind }),
    ...(who === undefined ? {} : { user_id: who }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  }
}
