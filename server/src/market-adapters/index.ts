/**
 * Adapters to providers of market rates: they ask for the rate of a lane with the brokerage's own key, in the background,
 * and the answer is stored like a rate that the brokerage entered.
 */
export { type MarketAdapters, marketAdapters } from './ask-providers.ts'
export { adapterNumber, type ProvidedRate, sourceOfAdapter } from './market-adapter.ts'
