import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { auditKinds } from '#contract/audit-kinds.ts'
import { type AuditEvent, isRefusal, sentenceOf } from './audit-words.ts'

const ana = { id: 1, name: 'Ana Ortiz' }
const sam = { id: 4, name: 'Sam Reyes' }
const event = (kind: string, more: Partial<AuditEvent> = {}): AuditEvent => ({
  event_id: 418,
  at: '2026-03-01T14:00:00.250Z',
  kind,
  done_by: ana,
  done_to: null,
  token: null,
  about: {},
  count: 1,
  network: '192.0.2.7',
  request_id: null,
  hash: '0'.repeat(64),
  ...more,
})
const textOf = (it: AuditEvent) =>
  sentenceOf(it)
    .map(({ text }) => text)
    .join('')

describe('the sentence of an event', () => {
  test.each([
    [event('signed-in'), 'Ana Ortiz signed in'],
    [
      event('role-changed', { done_to: sam, about: { from: 'member', to: 'admin' } }),
      'Ana Ortiz changed the role of Sam Reyes from member to admin',
    ],
    [
      event('person-removed', {
        done_to: sam,
        about: { role: 'admin', tokens: 'hand-over', token_ids: [1, 2] },
      }),
      'Ana Ortiz removed Sam Reyes, who was admin; 2 service tokens were transferred',
    ],
    [
      event('settings-changed', {
        about: {
          before: { floor_margin_pct: null, floor_margin_cents: 20_000 },
          after: { floor_margin_pct: 8, floor_margin_cents: 25_050 },
        },
      }),
      'Ana Ortiz changed the settings: minimum margin % from none to 8.0%; minimum margin from $200 to $250.50',
    ],
    [event('market-file-loaded', { about: { rates: 2, by_hand: true } }), 'Ana Ortiz entered 2 market rates'],
    [
      event('sign-in-failed', { done_by: null, done_to: sam }),
      'Someone entered a wrong password for Sam Reyes',
    ],
    [event('sign-in-failed'), 'Ana Ortiz entered a wrong current password'],
    [event('role-changed', { done_by: { id: 9, name: null } }), /^person 9 changed the role of Someone/],
    [event('written by hand'), 'written by hand'],
    [event('constructor'), 'constructor'],
  ])('%#', (it, words) => {
    expect(textOf(it)).toEqual(words instanceof RegExp ? expect.stringMatching(words) : words)
  })

  test('marks only user-supplied text, so that a name cannot imitate the text around it', () => {
    const named = event('signed-in', { done_by: { id: 2, name: 'Ana signed out' } })
    expect(sentenceOf(named)).toEqual([
      { text: 'Ana signed out', given: true },
      { text: ' signed in', given: false },
    ])
  })

  test('exists for every kind, even if the row was edited in the database', () => {
    const about = fc.dictionary(
      fc.constantFrom(
        'before',
        'after',
        'token_ids',
        'ends_at',
        'name',
        'email',
        'problem',
        'tokens',
        'toString',
      ),
      fc.oneof(
        fc.jsonValue(),
        fc.constantFrom('toString', '__proto__'),
        fc.dictionary(fc.constantFrom('name', 'floor_margin_pct', '__proto__', 'toString'), fc.jsonValue()),
      ),
    )
    fc.assert(
      fc.property(fc.constantFrom(...auditKinds), about, (kind, written) => {
        const sentence = sentenceOf(event(kind, { about: written as AuditEvent['about'], done_to: sam }))
        expect(sentence.map(({ text }) => typeof text)).toEqual(sentence.map(() => 'string'))
        expect(sentence.length).toBeGreaterThan(0)
      }),
    )
  })

  test('only rejected requests are refusals', () => {
    expect(isRefusal(event('signature-refused'))).toBe(true)
    expect(isRefusal(event('sign-in-failed'))).toBe(true)
    expect(isRefusal(event('signed-in'))).toBe(false)
  })
})
