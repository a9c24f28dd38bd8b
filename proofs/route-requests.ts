import { randomUUID } from 'node:crypto'
import type { allEndpoints } from '#contract/all-endpoints.ts'
import { customerOf, mergedCustomerOf } from './seeded-customers.ts'
import { marketSourceOf } from './seeded-fuel.ts'
import type { TenantIds } from './seeded-ids.ts'
import { password, updateOf } from './seeded-tenants.ts'

/** A request that names records of a brokerage. */
export interface WalkRequest {
  readonly path: string
  readonly body?: unknown
  /** The exact body, instead of `body`. */
  readonly text?: { readonly type: string; readonly bytes: string }
}

export type Operation = (typeof allEndpoints)[number]['name']

const corridor = 'origin=Dallas,%20TX&destination=Atlanta,%20GA&equipment=V'
const csv = (bytes: string) => ({ type: 'text/csv', bytes })
const marketFile = csv('Origin,Destination,Equipment,Rate\n"Dallas, TX","Atlanta, GA",V,1960\n')
const ofMarketFile = 'source=Walk&basis=all_in&as_of=2026-02-27'

const marketRate = {
  origin: 'Dallas, TX',
  destination: 'Atlanta, GA',
  equipment: 'V',
  basis: 'all_in',
  mid: 1960,
  source: 'Walk',
  as_of: '2026-02-27',
}
const otherRule = { conditions: { equipment: 'F' }, terms: { round_to: 5 } }
const period = 'from=2020-01-01&to=2100-01-01'

/** A valid request for each operation, with the ids of one brokerage. The type requires an entry for every operation. */
export const requestOf: Readonly<Record<Operation, (of: TenantIds) => WalkRequest>> = {
  'shipment-update': (of) => ({
    path: '/api/integrations/tms/shipment-update',
    text: { type: 'application/json', bytes: updateOf(of) },
  }),
  markup: () => ({
    path: `/api/integrations/insights/markup?${corridor}&proposed_rate=2150&include=estimate,curve,optimum,evidence,market,risk,rules`,
  }),
  'lane-insight': () => ({ path: `/api/integrations/insights/lane?${corridor}&include=evidence,market` }),
  'insight-batch': () => ({
    path: '/api/integrations/insights/batch',
    body: {
      lanes: [
        { id: 'row 1', origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' },
        { origin: 'nowhere' },
      ],
      answers: ['markup', 'lane'],
    },
  }),
  'push-quotes': (of) => ({
    path: '/api/integrations/quotes',
    body: {
      quotes: [
        {
          external_id: of.laneRef,
          origin: 'Dallas, TX',
          destination: 'Atlanta, GA',
          equipment: 'V',
          quoted_rate: 2000,
          customer_name: 'Harvest',
        },
      ],
    },
  }),
  'check-quotes': (of) => ({
    path: '/api/integrations/quotes/check',
    body: { quotes: [{ external_id: of.laneRef, quoted_rate: 2000 }] },
  }),
  'push-outcomes': (of) => ({
    path: '/api/integrations/outcomes',
    body: { outcomes: [{ lane_ref: of.laneRef, outcome: 'pending' }] },
  }),
  'push-shipment-updates': (of) => ({
    path: '/api/integrations/tms/shipment-updates',
    body: { updates: [{ lane_ref: of.laneRef, customer_rate: 2000 }] },
  }),
  'read-quotes': (of) => ({ path: `/api/integrations/quotes?lane_ref=${of.laneRef}` }),
  'read-shipments': (of) => ({ path: `/api/integrations/shipments?lane_ref=${of.laneRef}` }),
  'search-shipments': () => ({ path: '/api/integrations/shipments/search' }),
  'create-service-token': () => ({ path: '/api/integrations/tokens', body: { name: 'another' } }),
  'list-service-tokens': () => ({ path: '/api/integrations/tokens' }),
  'revoke-service-token': (of) => ({ path: `/api/integrations/tokens/${of.spareToken}` }),
  'create-signing-secret': () => ({ path: '/api/integrations/secrets', body: { name: 'another' } }),
  'list-signing-secrets': () => ({ path: '/api/integrations/secrets' }),
  'rotate-signing-secret': (of) => ({
    path: `/api/integrations/secrets/${of.spareSecret}/rotate`,
    body: { overlap_hours: 1 },
  }),
  'revoke-signing-secret': (of) => ({ path: `/api/integrations/secrets/${of.spareSecret}` }),
  'list-integration-calls': (of) => ({ path: `/api/integration-calls?token_id=${of.liveToken}` }),
  'list-audit-events': (of) => ({ path: `/api/audit?user_id=${of.person}` }),
  'export-audit-events': (of) => ({ path: `/api/audit/export?user_id=${of.person}` }),
  'get-rate-limit': () => ({ path: '/api/rate-limit' }),
  'check-signature': () => ({
    path: '/api/signature-check',
    body: { timestamp: '1772373600', body: '{}', signature: `sha256=${'0'.repeat(64)}` },
  }),
  'enter-sandbox': () => ({ path: '/api/sandbox/session', body: {} }),
  'reset-sandbox': () => ({ path: '/api/sandbox/reset', body: {} }),
  'add-event-endpoint': () => ({
    path: '/api/event-endpoints',
    body: { url: 'https://hooks.example.com/lanewise' },
  }),
  'list-event-endpoints': () => ({ path: '/api/event-endpoints' }),
  'change-event-endpoint': (of) => ({
    path: `/api/event-endpoints/${of.eventEndpoint}`,
    body: { event_types: ['lane.booked'] },
  }),
  'remove-event-endpoint': (of) => ({ path: `/api/event-endpoints/${of.eventEndpoint}` }),
  'rotate-event-secret': (of) => ({ path: `/api/event-endpoints/${of.eventEndpoint}/rotate`, body: {} }),
  'test-event-endpoint': (of) => ({ path: `/api/event-endpoints/${of.eventEndpoint}/test` }),
  'replay-events': (of) => ({
    path: `/api/event-endpoints/${of.eventEndpoint}/replay`,
    body: { event_id: of.event },
  }),
  'list-event-deliveries': (of) => ({ path: `/api/event-deliveries?endpoint_id=${of.eventEndpoint}` }),
  'sign-up': () => ({
    path: '/api/auth/sign-up',
    body: { company: 'New', name: 'Nora', email: `new-${randomUUID()}@example.com`, password },
  }),
  // For A the password is wrong: the caller knows only the e-mail address. For B it is right.
  'sign-in': (of) => ({
    path: '/api/auth/sign-in',
    body: { email: of.ownerEmail, password: of.label === 'A' ? 'not the one of the owner' : password },
  }),
  'read-invitation': (of) => ({
    path: '/api/auth/invitation',
    body: { invitation: of.label === 'A' ? `${of.invitation.slice(0, -1)}z` : of.invitation },
  }),
  'accept-invitation': (of) => ({
    path: '/api/auth/accept-invitation',
    body: {
      invitation: of.label === 'A' ? `${of.invitation.slice(0, -1)}z` : of.invitation,
      password: 'seven quiet trucks at dawn',
    },
  }),
  'sign-out': () => ({ path: '/api/auth/sign-out', body: { everywhere: true } }),
  'session-token': () => ({ path: '/api/auth/session-token', body: {} }),
  'change-password': () => ({
    path: '/api/auth/password',
    body: { current_password: password, new_password: 'seven quiet trucks at dawn' },
  }),
  me: () => ({ path: '/api/me' }),
  'change-me': () => ({ path: '/api/me', body: { phone: '(312) 555-0142' } }),
  'update-tenant': () => ({ path: '/api/tenant', body: { floors: { margin_pct: 12 } } }),
  'first-steps': () => ({ path: '/api/first-steps' }),
  'list-users': () => ({ path: '/api/users' }),
  'invite-user': () => ({
    path: '/api/users',
    body: { name: 'Sam', email: 'sam@example.com', role: 'member' },
  }),
  'update-user': (of) => ({ path: `/api/users/${of.person}`, body: { role: 'member' } }),
  'remove-user': (of) => ({ path: `/api/users/${of.person}` }),
  'quote-advice': () => ({
    path: `/api/advice/markup?${corridor}&proposed_rate=2150&include=estimate,curve,optimum,evidence,risk,rules`,
  }),
  'lane-advice': () => ({ path: `/api/advice/lane?${corridor}&include=evidence` }),
  'advise-quotes': () => ({
    path: '/api/advice/lanes',
    body: {
      lanes: [
        { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 2150 },
        { origin: 'nowhere' },
      ],
    },
  }),
  'lane-record': () => ({ path: `/api/lane-record?${corridor}` }),
  'read-pasted-quotes': () => ({
    path: '/api/pasted-lanes',
    body: { text: 'Dallas, TX\tAtlanta, GA\tV\t2150' },
  }),
  'suggest-places': () => ({ path: '/api/places' }),
  'suggest-customers': () => ({ path: '/api/customers' }),
  'create-quote-request': () => ({
    path: '/api/quote-requests',
    body: {
      customer_name: 'Harvest Table Foods',
      lanes: [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 2150 }],
    },
  }),
  'get-quote-request': (of) => ({ path: `/api/quote-requests/${of.request}` }),
  'list-quotes': (of) => ({ path: `/api/lanes?quoted_by=${of.owner}` }),
  'export-quotes': (of) => ({ path: `/api/lanes/export?quoted_by=${of.owner}` }),
  'get-quote': (of) => ({ path: `/api/lanes/${of.laneRef}` }),
  'list-shipments': (of) => ({ path: `/api/shipments?quoted_by=${of.owner}` }),
  'export-shipments': (of) => ({ path: `/api/shipments/export?quoted_by=${of.owner}` }),
  requote: (of) => ({ path: `/api/lanes/${of.laneRef}/requote`, body: { quoted_rate: 2075 } }),
  'set-outcome': (of) => ({
    path: `/api/lanes/${of.laneRef}/outcome`,
    body: { outcome: 'lost', reason: 'price' },
  }),
  'mark-quotes': (of) => ({
    path: '/api/lane-outcomes',
    body: { lanes: [{ lane_ref: of.laneRef, outcome: 'lost', reason: 'price' }] },
  }),
  'get-quote-list-settings': () => ({ path: '/api/quote-list-settings' }),
  'list-customers': () => ({ path: '/api/customers/list' }),
  'export-customers': () => ({ path: '/api/customers/export' }),
  'get-customer': (of) => ({
    path: `/api/customers/record?name=${encodeURIComponent(customerOf(of))}`,
  }),
  'list-approvals': () => ({ path: '/api/approvals' }),
  'ask-approval': () => ({
    path: '/api/approvals',
    body: {
      customer_name: 'Walk',
      lanes: [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 2150 }],
    },
  }),
  'ask-requote-approval': (of) => ({
    path: `/api/lanes/${of.laneRef}/approvals`,
    body: { quoted_rate: 2150 },
  }),
  'decide-approval': (of) => ({
    path: `/api/approvals/${of.import}/decision`,
    body: { decision: 'withdraw' },
  }),
  'list-pricing-rules': () => ({ path: '/api/pricing-rules' }),
  'add-pricing-rule': () => ({ path: '/api/pricing-rules', body: otherRule }),
  'change-pricing-rule': (of) => ({ path: `/api/pricing-rules/${of.import}`, body: otherRule }),
  'remove-pricing-rule': (of) => ({ path: `/api/pricing-rules/${of.import}` }),
  'change-customer': () => ({ path: '/api/customers/record', body: { name: 'Walk', tier: 'B' } }),
  'list-customer-variants': () => ({ path: '/api/customers/variants' }),
  'rename-customer': () => ({ path: '/api/customers/names', body: { name: 'Walk', new_name: 'Walk On' } }),
  'decide-customers': (of) => ({
    path: '/api/customers/decisions',
    body: { name: mergedCustomerOf(of), other: customerOf(of), decision: 'open' },
  }),
  'list-teams': () => ({ path: '/api/teams' }),
  'add-team': () => ({ path: '/api/teams', body: { name: 'Walk' } }),
  'change-team': (of) => ({ path: `/api/teams/${of.import}`, body: { name: 'Walk' } }),
  'remove-team': (of) => ({ path: `/api/teams/${of.import}` }),
  'get-fuel': () => ({ path: '/api/fuel' }),
  'get-fuel-surcharge': () => ({ path: '/api/fuel/surcharge?day=2026-03-05&miles=780' }),
  'change-fuel-schedule': () => ({
    path: '/api/fuel/schedule',
    body: { periods: [{ from: '2026-01-01', base_price: 1.2, miles_per_gallon: 6 }] },
  }),
  'load-diesel-prices': () => ({
    path: '/api/fuel/diesel-prices',
    text: csv('period,series,value\n2026-03-02,EMD_EPD2D_PTE_NUS_DPG,3.879\n'),
  }),
  'list-exchange-rates': () => ({ path: '/api/exchange-rates' }),
  'add-exchange-rates': () => ({
    path: '/api/exchange-rates',
    body: { rates: [{ day: '2026-03-02', usd_per_cad: 0.7312 }] },
  }),
  'load-exchange-file': () => ({
    path: '/api/exchange-rate-files',
    text: csv('date,usd_per_cad\n2026-03-02,0.7312\n'),
  }),
  'change-quote-list-settings': () => ({
    path: '/api/quote-list-settings',
    body: { version: 0, default_view: 'My quotes' },
  }),
  'void-quote': (of) => ({ path: `/api/lanes/${of.laneRef}/void`, body: { reason: 'Mistyped rate' } }),
  'restore-quote': (of) => ({ path: `/api/lanes/${of.laneRef}/restore` }),
  'list-changes': (of) => ({ path: `/api/lanes/${of.laneRef}/changes` }),
  rollback: (of) => ({ path: `/api/lanes/${of.laneRef}/rollback`, body: { change_id: 1 } }),
  'get-performance': (of) => ({ path: `/api/performance?by=customer&${period}&quoted_by=${of.owner}` }),
  'export-performance': (of) => ({
    path: `/api/performance/export?by=customer&${period}&quoted_by=${of.owner}`,
  }),
  'list-margin-gaps': (of) => ({ path: `/api/performance/margin-gaps?${period}&quoted_by=${of.owner}` }),
  'push-market-rates': () => ({ path: '/api/integrations/market-rates', body: { rates: [marketRate] } }),
  'get-market-standing': () => ({ path: `/api/market-standing?${period}` }),
  'export-market-standing': () => ({ path: `/api/market-standing/export?${period}` }),
  'list-market-rates': () => ({ path: '/api/market-rates' }),
  'add-market-rates': () => ({ path: '/api/market-rates', body: { rates: [marketRate] } }),
  'load-market-file': () => ({ path: `/api/market-rate-files?${ofMarketFile}`, text: marketFile }),
  'push-market-file': () => ({
    path: `/api/integrations/market-rate-files?${ofMarketFile}`,
    text: marketFile,
  }),
  'erase-market-source': (of) => ({
    path: `/api/market-rate-sources/${encodeURIComponent(marketSourceOf(of))}`,
  }),
  'create-import': () => ({
    path: '/api/imports?file_name=walk.csv',
    text: {
      type: 'text/csv',
      bytes:
        'origin,destination,equipment,quoted_rate,quoted_at,outcome\n"Dallas, TX","Atlanta, GA",V,2000,2026-01-02,won\n',
    },
  }),
  'integration-create-import': () => ({
    path: '/api/integrations/imports?file_name=walk.csv',
    text: {
      type: 'text/csv',
      bytes:
        'origin,destination,equipment,quoted_rate,quoted_at,outcome\n"Dallas, TX","Atlanta, GA",V,2000,2026-01-02,won\n',
    },
  }),
  'integration-get-import': (of) => ({ path: `/api/integrations/imports/${of.import}` }),
  'match-import-columns': () => ({
    path: '/api/import-columns',
    body: { headers: ['origin', 'destination', 'equipment', 'quoted_rate'] },
  }),
  'read-import-header': () => ({
    path: '/api/import-headers',
    text: { type: 'text/csv', bytes: 'origin,destination\n"Dallas, TX","Atlanta, GA"\n' },
  }),
  'list-imports': () => ({ path: '/api/imports' }),
  'get-import': (of) => ({ path: `/api/imports/${of.import}` }),
  'get-refused-rows': (of) => ({ path: `/api/imports/${of.import}/refused-rows` }),
  'stop-import': (of) => ({ path: `/api/imports/${of.import}/stop` }),
  'undo-import': (of) => ({ path: `/api/imports/${of.import}/undo` }),
  'get-backtest': () => ({ path: '/api/backtest', body: { rule: otherRule } }),
  'export-backtest': () => ({ path: '/api/backtest/export' }),
  'get-forecasts': () => ({ path: '/api/forecasts' }),
  'export-forecasts': () => ({ path: '/api/forecasts/export' }),
}
