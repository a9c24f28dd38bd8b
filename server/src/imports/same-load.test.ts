import { describe, expect, it } from 'vitest'
import type { QuoteRow } from '../database/schema/index.ts'
import type { ImportedQuote } from './rows.ts'
import { isOtherLoad, otherLoadWords } from './same-load.ts'

type Days = { readonly quoted?: string; readonly pickup?: string; readonly booked?: string }

const quoteOf = (customer: string | null, { quoted = '2026-03-01', pickup, booked }: Days = {}) =>
  ({
    lane_ref: '48211093754-1-1',
    customer_name: null,
    quoted_customer_name: customer,
    created_at: new Date(`${quoted}T15:00:00Z`),
    pickup_date: pickup ?? null,
    booked_at: booked === undefined ? null : new Date(booked),
  }) as unknown as QuoteRow

const rowOf = (customerName: string, { quoted, pickup, booked }: Days) =>
  ({
    customerName,
    reported: {
      quote: {
        ...(quoted === undefined ? {} : { quotedAt: Date.parse(quoted) }),
        ...(pickup === undefined ? {} : { pickupDate: pickup }),
      },
      booking: booked === undefined ? {} : { bookedAt: Date.parse(booked) },
    },
  }) as unknown as ImportedQuote

const march = { quoted: '2026-03-01' }
const april = { quoted: '2026-04-01' }

describe('isOtherLoad', () => {
  it.each<[string, QuoteRow, ImportedQuote]>([
    ['another customer a month later', quoteOf('Acme Foods'), rowOf('Beta Mills', april)],
    [
      'another customer four days later',
      quoteOf('Acme Foods'),
      rowOf('Beta Mills', { quoted: '2026-03-05' }),
    ],
    ['another customer a month earlier', quoteOf('Acme Foods', april), rowOf('Beta Mills', march)],
    [
      'another customer with other days of each kind, of which one is near a day of another kind',
      quoteOf('Acme Foods', { quoted: '2026-03-01', pickup: '2026-03-08' }),
      rowOf('Beta Mills', { quoted: '2026-03-08', pickup: '2026-03-15' }),
    ],
    [
      'another customer, with a day of another kind that is far away',
      quoteOf('Acme Foods'),
      rowOf('Beta Mills', { pickup: '2026-04-01' }),
    ],
    ['the same customer a month later', quoteOf('Acme Foods'), rowOf('Acme Foods', april)],
    ['another spelling a month later', quoteOf('Acme Foods'), rowOf('ACME FOODS, Inc.', april)],
    ['a load without a customer a month later', quoteOf('Acme Foods'), rowOf('Customer not given', april)],
    [
      'the same customer, booked and picked up on other days',
      quoteOf('Acme Foods', { pickup: '2026-03-08', booked: '2026-03-07' }),
      rowOf('Acme Foods', { pickup: '2026-04-08', booked: '2026-04-07' }),
    ],
  ])('%s is another load', (_, quote, row) => {
    expect(isOtherLoad(quote, row)).toBe(true)
  })

  it.each<[string, QuoteRow, ImportedQuote]>([
    [
      'the same customer with a rescheduled pickup',
      quoteOf('Acme Foods', { pickup: '2026-03-08' }),
      rowOf('ACME FOODS, Inc.', { pickup: '2026-04-08' }),
    ],
    [
      'the customer of the booking with a rescheduled pickup',
      { ...quoteOf('Acme', { pickup: '2026-03-08' }), customer_name: 'Beta' },
      rowOf('Beta', { pickup: '2026-04-08' }),
    ],
    ['the same customer three days later', quoteOf('Acme'), rowOf('Acme', { quoted: '2026-03-04' })],
    ['another customer on the same day', quoteOf('Acme Foods'), rowOf('Beta Mills', march)],
    [
      'another customer three days later',
      quoteOf('Acme Foods'),
      rowOf('Beta Mills', { quoted: '2026-03-04' }),
    ],
    [
      'another customer with the same pickup',
      quoteOf('Acme Foods', { pickup: '2026-03-08' }),
      rowOf('Beta Mills', { quoted: '2026-05-01', pickup: '2026-03-08' }),
    ],
    [
      'another customer booked on the same day',
      quoteOf('Acme Foods', { booked: '2026-03-09T10:00Z' }),
      rowOf('Beta Mills', { quoted: '2026-05-01', booked: '2026-03-10T10:00Z' }),
    ],
    ['another customer, without a day', quoteOf('Acme Foods'), rowOf('Beta Mills', {})],
    ['no customer in the row', quoteOf('Acme Foods'), rowOf('Customer not given', { pickup: '2026-04-01' })],
    ['no customer in the quote', quoteOf('Customer not given'), rowOf('Beta', { pickup: '2026-04-01' })],
  ])('%s is the same load', (_, quote, row) => {
    expect(isOtherLoad(quote, row)).toBe(false)
  })
})

it('names both loads, and what a person can do', () => {
  expect(otherLoadWords(quoteOf('Acme Foods'), rowOf('Beta Mills', april), 'Load ID')).toBe(
    'is the Load ID of the quote 48211093754-1-1 ("Acme Foods", 2026-03-01), and this row has another day ("Beta Mills", 2026-04-01). Give this load a Load ID of its own. If it is the same load, import the file with the map same_ids=update; if the column has no ids of loads, with reference=',
  )
})
