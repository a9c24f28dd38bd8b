import { pagePaths } from '#contract/pages.ts'
import { Page, useAddress } from '../shared-ui/index.ts'
import { MarketRates } from './market-rates.tsx'
import { MarketStanding } from './market-standing.tsx'

const hint =
  "Market rates come from your own sources, and no other brokerage sees them. Amounts are dollars per load, on the brokerage's default basis unless stated."

/** The brokerage's won, lost and paid rates against the market. */
export function MarketPage() {
  const { search, change } = useAddress(pagePaths.market)
  return (
    <Page title="Market" hint={hint}>
      <MarketStanding search={search} change={change} />
    </Page>
  )
}

/** The market rates that the brokerage has, and where they come from. */
export function MarketSourcesPage() {
  const { search } = useAddress(pagePaths.marketRates)
  return (
    <Page title="Market sources" hint={hint}>
      <MarketRates search={search} />
    </Page>
  )
}
