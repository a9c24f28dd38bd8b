import { SimpleGrid, Stack } from '@mantine/core'
import { useAnswer, useMay } from '../api/index.ts'
import { Failed, Loading } from '../shared-ui/index.ts'
import { DieselPrices } from './settings-fuel-diesel.tsx'
import { ExchangeRates } from './settings-fuel-exchange.tsx'
import { FuelSchedules } from './settings-fuel-schedules.tsx'
import { TryFuel } from './settings-fuel-try.tsx'

/** Diesel prices, exchange rates, the fuel surcharge schedules, and the surcharge of a load. Members read, admins change. */
export function FuelSettings() {
  const fuel = useAnswer('get-fuel', {}, { comesBack: true })
  const mayChange = useMay('admin')
  if (fuel.data === undefined) {
    return fuel.error === null ? (
      <Loading label="Loading diesel prices and schedules" height={52} />
    ) : (
      <Failed error={fuel.error} retry={() => void fuel.refetch()} />
    )
  }
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <DieselPrices fuel={fuel.data} mayChange={mayChange} />
        <ExchangeRates mayChange={mayChange} />
      </SimpleGrid>
      <FuelSchedules schedules={fuel.data.schedules} mayChange={mayChange} />
      <TryFuel />
    </Stack>
  )
}
