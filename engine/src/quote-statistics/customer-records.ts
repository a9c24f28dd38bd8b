/** The customers and teams that a brokerage entered, as far as statistics depend on them. */
export interface CustomerRecords {
  /** Each name that somebody assigned to a customer, by the name's key. */
  readonly names: ReadonlyMap<string, CustomerName>
  /** The teams of customers, by the id of the customer, and the members of teams, by the id of the team. */
  readonly teamsOfCustomer: ReadonlyMap<number, readonly number[]>
  readonly membersOfTeam: ReadonlyMap<number, ReadonlySet<number>>
}

export interface CustomerName {
  /** The customer that the name counts for, and the key of the customer's own name. */
  readonly customerId: number
  readonly mainKey: string
  readonly tier: string | null
}

/** The key that quotes of a name are grouped by: that of the customer into which the name was merged, else its own. */
export function mainKeyOf({ names }: CustomerRecords, key: string): string {
  return names.get(key)?.mainKey ?? key
}

/** Whether two keys are names of the same customer. */
export function isSameCustomer({ names }: CustomerRecords, one: string, other: string): boolean {
  if (one === other) return true
  const [first, second] = [names.get(one), names.get(other)]
  return first !== undefined && first.customerId === second?.customerId
}

/** Whether a customer is hidden from a person: it is in teams, and the person is in none of them. */
export function isHiddenFrom(
  { names, teamsOfCustomer, membersOfTeam }: CustomerRecords,
  userId: number,
  key: string,
): boolean {
  const customer = names.get(key)
  const teams = customer === undefined ? [] : (teamsOfCustomer.get(customer.customerId) ?? [])
  return teams.length > 0 && !teams.some((team) => membersOfTeam.get(team)?.has(userId) === true)
}
