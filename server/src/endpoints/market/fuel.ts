import * as contract from '#contract/fuel.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { placeForFile } from '../quotes/received-files.ts'
import { findFuelSurcharge } from './find-fuel-surcharge.ts'
import { changeFuelSchedule, fuelAnswer } from './fuel-schedule.ts'
import { loadDieselPrices } from './load-diesel-prices.ts'

export const fuelEndpoints: ServedEndpoint[] = [
  serve(contract.getFuel, async ({ caller: { tenant }, now }, { database }) =>
    database.inTenant(tenant, (transaction) => fuelAnswer(transaction, tenant, now)),
  ),
  serve(contract.changeFuelSchedule, changeFuelSchedule),
  serve(contract.loadDieselPrices, loadDieselPrices, { beforeBody: placeForFile }),
  serve(contract.getFuelSurcharge, findFuelSurcharge),
]
