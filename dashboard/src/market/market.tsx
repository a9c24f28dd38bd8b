import { pagePaths } from '#contract/pages.ts'
import { Page, useAddress, ViewTabs } from '../shared-ui/index.ts'
import { MarketRates } from './market-rates.tsx'
import { MarketStanding } from './market-standing.tsx'

const views = { standing: 'Where you stand', rates: 'Market rates' } as const

/** The brokerage's won, lost and paid rates against the market, and the market rates that it stores. */
export default function Market() {
  const { search, change } = useAddress(pagePaths.market)
  const view = search.view === 'rates' ? 'rates' : 'standing'
  return (
    <Page
      title="Market"
      hint="Market rates come from your own sources, and no other brokerage sees them. Amounts are dollars per load, on the brokerage's default basis unless stated."
    >
      <ViewTabs names={views} view={view} onView={(next) => change({ view: next, show: undefined })}>
        {view === 'rates' ? (
          <MarketRates search={search} />
        ) : (
          <MarketStanding search={search} change={change} />
        )}
      </ViewTabs>
    </Page>
  )
}
