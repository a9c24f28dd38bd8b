import * as contract from '#contract/market-rates.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { placeForFile } from '../quotes/received-files.ts'
import { eraseMarketSource } from './erase-market-source.ts'
import { listMarketRates } from './list-market-rates.ts'
import { loadRateFile } from './market-rate-files.ts'
import { addMarketRates, pushMarketRates, saidAt } from './push-market-rates.ts'

export const marketRateEndpoints: ServedEndpoint[] = [
  serve(contract.pushMarketRates, pushMarketRates),
  serve(contract.addMarketRates, addMarketRates),
  serve(
    contract.loadMarketFile,
    async ({ caller, query, body, now }, parts) =>
      loadRateFile({ tenant: caller.tenant, query, body, saidAt: new Date(now), now }, parts),
    { beforeBody: placeForFile },
  ),
  serve(
    contract.pushMarketFile,
    async ({ caller, query, body, signed, now }, parts) =>
      loadRateFile({ tenant: caller.tenant, query, body, saidAt: saidAt(signed), now }, parts),
    { beforeBody: placeForFile },
  ),
  serve(contract.listMarketRates, listMarketRates),
  serve(contract.eraseMarketSource, eraseMarketSource),
]
