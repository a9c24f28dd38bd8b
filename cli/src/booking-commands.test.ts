import { Command } from 'commander'
import { expect, test } from 'vitest'
import { bookingTable, sentBookingFields } from '#engine/booking-fields.ts'
import { addBookingCommands } from './booking-commands.ts'

test('shipment-update has an option for each booking field of a signed update', () => {
  const program = new Command()
  addBookingCommands(program, () => async () => {})
  const command = program.commands.find((one) => one.name() === 'shipment-update')
  const options = command?.options.map(({ long }) => long)
  for (const field of sentBookingFields) {
    expect(options).toContain(`--${bookingTable[field].sent.replaceAll('_', '-')}`)
  }
})
