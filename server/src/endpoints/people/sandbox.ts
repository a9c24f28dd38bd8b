import * as contract from '#contract/sandbox.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { enterTestBrokerage } from './enter-test-brokerage.ts'
import { resetTestBrokerage } from './reset-test-brokerage.ts'

export const sandboxEndpoints: ServedEndpoint[] = [
  serve(contract.enterSandbox, enterTestBrokerage),
  serve(contract.resetSandbox, resetTestBrokerage),
]
