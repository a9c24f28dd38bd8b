import { SimpleGrid, Stack, Text } from '@mantine/core'
import { pagePaths } from '#contract/pages.ts'
import type { Answer } from '../api/index.ts'
import { counted, dollars, roundDollars } from './formats.ts'
import { TextLink } from './links.tsx'

type References = NonNullable<Answer<'lane-advice'>['market']>
type Rate = NonNullable<References['market']>

const scopeNames: Readonly<Record<Rate['scope'], string>> = {
  lane: 'city pair',
  zip3: '3-digit ZIP areas',
  market: 'markets',
  state_pair: 'states',
  region: 'regions',
}
export const marketScopeName = (scope: Rate['scope']) => scopeNames[scope]

/** @example basisName('all_in') // 'all-in' */
export const basisName = (basis: Rate['basis']) => (basis === 'all_in' ? 'all-in' : 'linehaul')

/** @example kindName('buy') // 'what carriers are paid' */
export const kindName = (kind: Rate['kind']) =>
  kind === 'buy' ? 'what carriers are paid' : 'what customers pay'

const conversionNames: Readonly<Record<NonNullable<Rate['converted_by']>, string>> = {
  charges: 'by its fuel charge',
  schedule: 'by your fuel schedule of its day',
  exchange: 'by the exchange rate of its day',
}

/** The converted amount of a rate, with how it was converted; empty if it was not. */
function comparedAs({ compared, converted_by: how }: Rate): string {
  return how === null ? '' : ` (compared as ${roundDollars(compared)}, ${conversionNames[how]})`
}

/** @example ageInWords(1) // '1 day old' */
export const ageInWords = (days: number) => (days === 0 ? 'from today' : `${counted(days, 'day')} old`)

const stateNames: Readonly<Record<Rate['state'], string>> = {
  usable: 'valid',
  stale: 'too old, not used',
  other_basis: 'another basis, not compared',
  other_currency: 'another currency, not used',
  future: 'not valid yet',
}

/** An amount of a rate; other currencies than US dollars are named. */
const amount = (rate: Rate, value: number | null) =>
  `${roundDollars(value)}${rate.currency === 'USD' ? '' : ` ${rate.currency}`}`

function rangeOf(rate: Rate): string {
  if (rate.low === null && rate.high === null) return ''
  return ` (${rate.low === null ? 'up' : amount(rate, rate.low)} to ${rate.high === null ? 'more' : amount(rate, rate.high)})`
}

function sampleOf({ sample }: Rate): string {
  return sample === null ? 'number of loads not given' : counted(sample, 'load')
}

/** The rates of the brokerage and of the market side by side, which one is the reference, and why. */
export function MarketReferences({
  references,
  lane,
}: {
  references: References
  lane: { readonly origin: string; readonly destination: string; readonly equipment?: string }
}) {
  const { own, market, market_why: marketWhy, used, reference_rate: rate, why, others } = references
  return (
    <Stack gap="xs">
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" component="dl" m={0}>
        <Reference
          name="Your rates"
          value={own.won_median === null ? dollars(own.median) : `${dollars(own.won_median)} won`}
          basis={
            own.quotes === 0
              ? 'No quotes on this lane'
              : `${own.won === 0 ? 'Median of' : `Median of ${own.won} won;`} all ${counted(own.quotes, 'quote')}${own.won === 0 ? '' : `: ${dollars(own.median)}`}. Newest ${ageInWords(own.age_days ?? 0)}`
          }
          isUsed={used === 'own_median'}
        />
        <Reference
          name="The market"
          value={market === null ? 'None' : `${amount(market, market.mid)}${rangeOf(market)}`}
          basis={
            market === null
              ? marketWhy
              : `${market.source}, ${kindName(market.kind)}, ${basisName(market.basis)}${comparedAs(market)}, ${scopeNames[market.scope]}, ${ageInWords(market.age_days)}, ${sampleOf(market)}`
          }
          isUsed={used === 'market'}
        />
      </SimpleGrid>
      <Text size="xs" c="dimmed">
        {rate === null ? why : `Rate to compare with: ${dollars(rate)}. ${why}`}
        {market !== null && ` ${marketWhy}`}
      </Text>
      {others.length > 0 && (
        <details>
          <summary>{counted(others.length, 'other market rate')}</summary>
          <ul style={{ margin: 0, paddingLeft: '1.2rem', fontSize: 'var(--mantine-font-size-xs)' }}>
            {others.map((other) => (
              <li key={JSON.stringify(other)}>
                {other.source}: {amount(other, other.mid)}
                {rangeOf(other)}, {kindName(other.kind)}, {basisName(other.basis)}
                {comparedAs(other)}, {scopeNames[other.scope]}, {other.equipment},{' '}
                {ageInWords(other.age_days)}, {sampleOf(other)}: {stateNames[other.state]}
              </li>
            ))}
          </ul>
        </details>
      )}
      {market === null && others.length === 0 && (
        <Text size="xs">
          <TextLink to={pagePaths.marketRates} query={lane}>
            Enter a market rate
          </TextLink>
        </Text>
      )}
    </Stack>
  )
}

function Reference({
  name,
  value,
  basis,
  isUsed,
}: {
  name: string
  value: string
  basis: string
  isUsed: boolean
}) {
  return (
    <div>
      <Text component="dt" size="xs" c="dimmed">
        {name}
        {isUsed && ' · to compare with'}
      </Text>
      <Text component="dd" m={0} fw={650} size="lg" lh={1.25}>
        {value}
      </Text>
      <Text component="dd" m={0} size="xs" c="dimmed">
        {basis}
      </Text>
    </div>
  )
}
