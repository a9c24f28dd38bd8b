import type { Endpoint } from './endpoint.ts'

/** An address that an earlier version served, and a sentence on what to use instead. */
interface RemovedAddress {
  readonly methods: readonly Endpoint['method'][]
  /** With parameters in braces, as in the addresses of endpoints. */
  readonly path: string
  readonly instead: string
}

/** The removed addresses: the detail of the 404 of a call has the sentence. */
export const removedAddresses: readonly RemovedAddress[] = [
  {
    methods: ['GET', 'POST', 'DELETE'],
    path: '/api/market-keys',
    instead:
      'No provider is asked for market rates: push them with POST /api/integrations/market-rates, or load a file with POST /api/market-rate-files.',
  },
]
