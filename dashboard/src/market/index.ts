/** Market: the brokerage's rates against the market, and the market rates of each source. */
export { default } from './market.tsx'
