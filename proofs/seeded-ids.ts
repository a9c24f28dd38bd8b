/** The two brokerages of the isolation tests. */
export type Label = 'A' | 'B'

/** The ids of a brokerage's records, which a caller of the other brokerage could try. */
export interface TenantIds {
  readonly label: Label
  readonly tenant: number
  readonly owner: number
  readonly admin: number
  readonly member: number
  readonly viewer: number
  readonly removed: number
  readonly invited: number
  /** A person that no other row refers to. */
  readonly person: number
  readonly liveToken: number
  readonly expiredToken: number
  readonly revokedToken: number
  /** A token that no caller uses. */
  readonly spareToken: number
  readonly secret: number
  readonly spareSecret: number
  readonly import: number
  readonly request: number
  /** The idempotency key of the quote request. */
  readonly requestKey: string
  readonly lane: number
  readonly laneRef: string
  readonly call: number
  readonly entry: number
  readonly eventEndpoint: number
  readonly eventSecret: number
  /** The internal number of a delivered event; `event` is its public id. */
  readonly eventNumber: number
  readonly event: string
  readonly ownerEmail: string
  readonly personEmail: string
  readonly invitation: string
  readonly jti: string
}

/** The number of the first quote in both brokerages, so that a query by this number alone finds the wrong tenant. */
const sharedLane = 13_000_000_001
export const bases = { A: 7000, B: 8000 } as const
export const tenantIdOf = { A: 700_000_001, B: 800_000_001 } as const
export const invitationSecret = { A: 'a'.repeat(32), B: 'b'.repeat(32) } as const
export const uuidOf = (label: Label, number: number) =>
  `0000000${label === 'A' ? 1 : 2}-0000-4000-8000-${String(number).padStart(12, '0')}`

export function idsOf(label: Label): TenantIds {
  const base = bases[label]
  const request = base * 1_000_000 + 1
  return {
    label,
    tenant: tenantIdOf[label],
    owner: base + 1,
    admin: base + 2,
    member: base + 3,
    viewer: base + 4,
    removed: base + 5,
    invited: base + 6,
    person: base + 7,
    liveToken: base + 101,
    expiredToken: base + 102,
    revokedToken: base + 103,
    spareToken: base + 104,
    secret: base + 201,
    spareSecret: base + 202,
    import: base + 301,
    request,
    requestKey: uuidOf(label, base + 501),
    lane: sharedLane,
    laneRef: `${request}-1-1`,
    call: base + 401,
    entry: base + 501,
    eventEndpoint: base + 601,
    eventSecret: base + 602,
    eventNumber: base * 1_000_000 + 603,
    event: uuidOf(label, base + 604),
    ownerEmail: `canary-${label.toLowerCase()}-owner@example.com`,
    personEmail: `canary-${label.toLowerCase()}-person@example.com`,
    invitation: `lwinv_${tenantIdOf[label]}_${base + 6}_${invitationSecret[label]}`,
    jti: uuidOf(label, base + 101),
  }
}

export const sessionOf = (label: Label, user: number) => uuidOf(label, 1_000_000 + user)
export const jtiOf = (label: Label, token: number) => uuidOf(label, token)

/** The day of the seeded daily counts, and the hash of the network that the owners signed in from. */
export const seededDay = '2026-02-03'
export const seededNetwork = (label: Label) => Buffer.alloc(32, label)

/** The settings of a list of quotes, with a view that has the canary. */
export const seededListSettings = (canary: string) => ({
  pending_days: 7,
  default_view: 'All quotes',
  columns: [],
  views: [{ name: `${canary}quote_list_settings-settings`, query: '', columns: [] }],
})
