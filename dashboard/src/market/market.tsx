import { Tabs } from '@mantine/core'
import { pagePaths } from '#contract/pages.ts'
import { Page, useAddress } from '../shared-ui/index.ts'
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
      <Tabs
        value={view}
        onChange={(next) => change({ view: next ?? undefined, show: undefined })}
        keepMounted={false}
      >
        <Tabs.List aria-label="View">
          {Object.entries(views).map(([name, label]) => (
            <Tabs.Tab key={name} value={name}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={view} pt="md">
          {view === 'rates' ? (
            <MarketRates search={search} />
          ) : (
            <MarketStanding search={search} change={change} />
          )}
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
