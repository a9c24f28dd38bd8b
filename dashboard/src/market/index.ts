/** The brokerage's rates against the market, and the market rates of each source. */
export { MarketPage, MarketSourcesPage } from './market.tsx'
