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
    async (call, parts) => loadRateFile({ ...call, doing: call, saidAt: new Date(call.now) }, parts),
    { beforeBody: placeForFile },
  ),
  serve(
    contract.pushMarketFile,
    async (call, parts) => loadRateFile({ ...call, doing: call, saidAt: saidAt(call.signed) }, parts),
    { beforeBody: placeForFile },
  ),
  serve(contract.listMarketRates, listMarketRates),
  serve(contract.eraseMarketSource, eraseMarketSource),
]
