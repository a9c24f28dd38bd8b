/** Kinds that only earlier versions recorded. Their rows stay in the log, where they can be read and selected. */
export const formerAuditKinds = [
  'market-key-set',
  'market-key-removed',
  'pilot-started',
  'pilot-stopped',
  'experiment-started',
  'experiment-ended',
  'sandbox-created',
  'customer-merged',
  'customer-unmerged',
  'customer-variant-dismissed',
  'customer-variant-offered',
] as const

/**
 * The kinds of audit log rows, by subject. Each event has its own row; refused requests of one kind share a row per
 * minute.
 */
export const auditKindsOf = {
  'sign-in': ['signed-up', 'signed-in', 'signed-out', 'password-changed', 'password-reset'],
  people: ['person-invited', 'invitation-accepted', 'role-changed', 'person-removed'],
  credentials: [
    'token-created',
    'token-revoked',
    'secret-created',
    'secret-rotated',
    'secret-revoked',
    'secrets-lost',
  ],
  events: [
    'event-endpoint-added',
    'event-endpoint-changed',
    'event-endpoint-removed',
    'event-endpoint-disabled',
    'event-secret-rotated',
    'events-replayed',
  ],
  brokerage: [
    'settings-changed',
    'approval-requested',
    'approval-decided',
    'pricing-rule-added',
    'pricing-rule-changed',
    'pricing-rule-removed',
    'change-rolled-back',
    'data-exported',
    'import-started',
    'import-undone',
    'market-file-loaded',
    'team-changed',
    'team-removed',
    'customer-changed',
    'customers-decided',
    'customer-renamed',
    'market-source-erased',
    'tenant-suspended',
    'tenant-resumed',
    'tenant-exported',
    'tenant-imported',
    'sandbox-entered',
    'sandbox-reset',
    ...formerAuditKinds,
  ],
  refusals: [
    'sign-in-failed',
    'sign-in-backed-off',
    'role-refused',
    'scope-refused',
    'csrf-refused',
    'signature-refused',
    'expired-token-used',
    'revoked-token-used',
    'wrong-kind-token-used',
    'unknown-token-used',
  ],
} as const

/** A subject of the audit log. */
export type AuditGroup = keyof typeof auditKindsOf
export const auditGroups = [
  'sign-in',
  'people',
  'credentials',
  'events',
  'brokerage',
  'refusals',
] as const satisfies readonly AuditGroup[]

export type AuditKind = (typeof auditKindsOf)[AuditGroup][number]
export const auditKinds: readonly AuditKind[] = auditGroups.flatMap((group) => auditKindsOf[group])
