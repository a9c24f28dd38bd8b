import { Command } from 'commander'
import { expect, test } from 'vitest'
import { bookingTable, sentBookingFields } from '#engine/booking-fields.ts'
import { quoteFieldsOf, quoteTable } from '#engine/quote-fields.ts'
import { addBookingCommands } from './booking-commands.ts'
import { addQuoteCommands } from './quote-commands.ts'

test('shipment-update has an option for each booking field of a signed update', () => {
  const program = new Command()
  addBookingCommands(program, () => async () => {})
  const command = program.commands.find((one) => one.name() === 'shipment-update')
  const options = command?.options.map(({ long }) => long)
  for (const field of sentBookingFields) {
    expect(options).toContain(`--${bookingTable[field].sent.replaceAll('_', '-')}`)
  }
})

test('quote has an argument or an option for each field of a pushed quote', () => {
  const program = new Command()
  addQuoteCommands(program, () => async () => {})
  const command = program.commands.find((one) => one.name() === 'quote')
  const options = command?.options.map(({ long }) => long)
  const otherwise: Readonly<Record<string, string>> = {
    customer_name: '--customer',
    quoted_currency: '--currency',
  }
  const places = ['origin', 'destination', 'equipment', 'quoted_rate']
  for (const field of quoteFieldsOf('push')) {
    const name = quoteTable[field].sent
    if (!places.includes(name)) {
      expect(options).toContain(otherwise[name] ?? `--${name.replaceAll('_', '-')}`)
    }
  }
})
