import { describe, expect, test } from 'vitest'
import { type ApprovalAction, type ApprovalState, approvalEmail, decided } from './approval.ts'

const approver = { isRequester: false, isApprover: true, isOnlyApprover: false }
const requester = { isRequester: true, isApprover: false, isOnlyApprover: false }

describe('a decision', () => {
  test('nobody decides their own request, except the only approver', () => {
    for (const action of ['approve', 'reject', 'counter'] as const) {
      expect(decided('waiting', action, requester)).toEqual({ refused: 'role' })
      expect(decided('waiting', action, { ...approver, isRequester: true })).toEqual({ refused: 'own' })
      expect(
        decided('waiting', action, { isRequester: true, isApprover: true, isOnlyApprover: true }),
      ).toHaveProperty('to')
      expect(decided('waiting', action, { ...requester, isRequester: false })).toEqual({ refused: 'role' })
    }
  })

  test('is possible once, and never after the end', () => {
    const ends: ApprovalState[] = ['approved', 'rejected', 'accepted', 'withdrawn', 'expired']
    const actions: ApprovalAction[] = ['approve', 'reject', 'counter', 'accept', 'withdraw']
    for (const state of ends)
      for (const action of actions) expect(decided(state, action, approver)).toEqual({ refused: 'state' })
    expect(decided('waiting', 'accept', requester)).toEqual({ refused: 'state' })
    expect(decided('countered', 'accept', requester)).toEqual({ to: 'accepted' })
    expect(decided('countered', 'withdraw', requester)).toEqual({ to: 'withdrawn' })
  })
})

const quote = {
  origin: 'Dallas, TX',
  destination: 'Atlanta, GA',
  equipment: 'V',
  rateCents: 190_000,
  counterCents: 196_000,
  terms: { basis: null, currency: null },
}
const countered = {
  approvalId: 12,
  state: 'countered' as const,
  customerName: 'Harvest',
  requestedBy: 'Sam',
  decidedBy: 'Ana',
  note: 'Four loads a week.',
  decisionNote: null,
  reasons: ['$1,900 is below the minimum of $2,000.'],
  lanes: [quote],
  laneRefs: [],
}

test('the e-mail names the lanes, the rates, the reasons and the notes', () => {
  const { subject, text } = approvalEmail(countered)
  expect(subject).toBe('Approval 12 (countered): Harvest, Dallas, TX to Atlanta, GA')
  expect(text).toBe(
    'Ana would approve other rates for Harvest than Sam asked for.\n\n- Dallas, TX to Atlanta, GA, V: $1,900; instead $1,960\n\nWhy it needs approval:\n- $1,900 is below the minimum of $2,000.\n\nNote of Sam: Four loads a week.',
  )
})

test('the e-mail says the currency and the basis of the rates, and that the reasons are in US dollars', () => {
  const inCad = { ...quote, terms: { basis: 'linehaul' as const, currency: 'CAD' as const } }
  const { text } = approvalEmail({ ...countered, lanes: [inCad] })
  expect(text).toContain('V: $1,900 CAD linehaul; instead $1,960 CAD linehaul\n')
  expect(text).toContain('Why it needs approval (in US dollars):\n')
})
