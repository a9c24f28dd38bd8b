import type { AnswerOf } from '#contract/endpoint.ts'
import { invalid, problem } from '#contract/errors.ts'
import { teamsMax } from '#contract/limits.ts'
import { addTeam, changeTeam, listTeams, removeTeam } from '#contract/teams.ts'
import { conditionsInWords } from '#engine/rules/rule-conditions.ts'
import { recordEvent } from '../../audit/index.ts'
import { customers, people, pricingRules, teams } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'

async function teamsAnswer(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<AnswerOf<typeof listTeams>> {
  const found = await teams.listTeams(transaction, tenant)
  return {
    teams: found.map(({ teamId, ...team }) => ({
      team_id: teamId,
      ...team,
      members: [...team.members],
      customers: [...team.customers],
    })),
  }
}

const nameTaken = (name: string) =>
  invalid([
    {
      pointer: '/name',
      code: 'invalid',
      detail: `name: Another team is called ${name}. It must be another name.`,
    },
  ])

/** The names of a team's members and customers, for the audit log. */
async function wordsOf(transaction: TenantTransaction, tenant: TenantId, teamId: number) {
  const team = (await teams.listTeams(transaction, tenant)).find((one) => one.teamId === teamId)
  if (team === undefined) return null
  return {
    name: team.name,
    members: team.members.map(({ name }) => name).join(', '),
    customers: team.customers.join(', '),
  }
}

interface Change {
  readonly members?: readonly number[] | undefined
  readonly customers?: readonly string[] | undefined
}

async function apply(
  transaction: TenantTransaction,
  tenant: TenantId,
  teamId: number,
  { members, customers: names }: Change,
  now: Date,
): Promise<void> {
  if (members !== undefined) {
    const known = await people.listUsers(transaction, tenant)
    const active = new Set(known.filter(({ status }) => status !== 'removed').map(({ user_id }) => user_id))
    const errors = members.flatMap((id, index) =>
      active.has(id)
        ? []
        : [
            {
              pointer: `/members/${index}`,
              code: 'invalid' as const,
              detail: `members: There is no person ${id} in this brokerage.`,
            },
          ],
    )
    if (errors.length > 0) throw invalid(errors)
    await teams.setTeamMembers(transaction, tenant, teamId, members)
  }
  if (names !== undefined) {
    const ids: number[] = []
    // Sorted, so that two requests lock the same customers in the same order, and cannot deadlock.
    for (const name of names.toSorted())
      ids.push(await customers.ensureCustomer(transaction, tenant, name, now))
    await teams.setTeamCustomers(transaction, tenant, teamId, ids)
  }
}

/** @throws Problem state-conflict if a rule names the team: without its team, the rule would silently apply to no quote */
async function checkRulesOfTeam(
  transaction: TenantTransaction,
  tenant: TenantId,
  { teamId, name }: { readonly teamId: number; readonly name: string },
): Promise<void> {
  const rules = await pricingRules.lockRules(transaction, tenant)
  const naming = rules.filter(({ conditions }) => conditions.team?.teamId === teamId)
  if (naming.length === 0) return
  const named = naming.map(({ ruleId, conditions }) => `rule ${ruleId} (${conditionsInWords(conditions)})`)
  throw problem(
    'state-conflict',
    `Pricing rules name the team ${name}: ${named.join('; ')}. Change or remove them first. Nothing was changed.`,
  )
}

export const teamEndpoints: ServedEndpoint[] = [
  serve(listTeams, ({ caller: { tenant } }, { database }) =>
    database.inTenant(tenant, (transaction) => teamsAnswer(transaction, tenant)),
  ),

  serve(addTeam, (call, { database }) => {
    const { caller, body } = call
    const { tenant } = caller
    const now = new Date(call.now)
    const name = body.name.trim()
    return database.inTenant(tenant, async (transaction) => {
      if ((await teams.listTeams(transaction, tenant)).length >= teamsMax) {
        throw problem('state-conflict', `There are ${teamsMax} teams already. Remove one first.`)
      }
      const teamId = await teams.insertTeam(transaction, tenant, name, now)
      if (teamId === null) throw nameTaken(name)
      await apply(transaction, tenant, teamId, body, now)
      const after = await wordsOf(transaction, tenant, teamId)
      await recordEvent(transaction, call, 'team-changed', {
        about: { team: name, before: { members: '', customers: '' }, after: { ...after } },
      })
      return teamsAnswer(transaction, tenant)
    })
  }),

  serve(changeTeam, (call, { database }) => {
    const { caller, body, params } = call
    const { tenant } = caller
    return database.inTenant(tenant, async (transaction) => {
      await teams.lockTeam(transaction, tenant, params.id)
      const before = await wordsOf(transaction, tenant, params.id)
      if (before === null) throw problem('not-found', `There is no team ${params.id} in this brokerage.`)
      const name = body.name?.trim()
      if (name !== undefined && name !== before.name) {
        const others = await teams.listTeams(transaction, tenant)
        if (others.some((one) => one.name === name)) throw nameTaken(name)
        await teams.renameTeam(transaction, tenant, params.id, name)
      }
      await apply(transaction, tenant, params.id, body, new Date(call.now))
      const after = await wordsOf(transaction, tenant, params.id)
      if (JSON.stringify(after) !== JSON.stringify(before)) {
        await recordEvent(transaction, call, 'team-changed', { about: { team: before.name, before, after } })
      }
      return teamsAnswer(transaction, tenant)
    })
  }),

  serve(removeTeam, (call, { database }) => {
    const { caller, params } = call
    const { tenant } = caller
    return database.inTenant(tenant, async (transaction) => {
      await teams.lockTeam(transaction, tenant, params.id)
      const before = await wordsOf(transaction, tenant, params.id)
      if (before === null) throw problem('not-found', `There is no team ${params.id} in this brokerage.`)
      await checkRulesOfTeam(transaction, tenant, { teamId: params.id, name: before.name })
      await teams.deleteTeam(transaction, tenant, params.id)
      await recordEvent(transaction, call, 'team-removed', {
        about: { team: before.name, customers: before.customers },
      })
      return teamsAnswer(transaction, tenant)
    })
  }),
]
