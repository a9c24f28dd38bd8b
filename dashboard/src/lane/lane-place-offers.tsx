import { Text } from '@mantine/core'
import { pagePaths } from '#contract/pages.ts'
import { useAnswer } from '../api/index.ts'
import { TextLink } from '../shared-ui/index.ts'
import { changed, laneOf, useLaneAddress } from './lane-address.ts'

const suggestionsMax = 5

/** Suggestions for an unknown place, each linking to the same lane with the suggested place. */
export function PlaceOffers({
  end,
  typed,
  known,
}: {
  end: 'origin' | 'destination'
  typed: string
  /** The suggestions in the service's error, if any. */
  known?: readonly string[]
}) {
  const { address } = useLaneAddress()
  const city = (typed.split(',')[0] ?? typed).trim()
  const whole = useAnswer(
    'suggest-places',
    { query: { q: typed, limit: suggestionsMax } },
    { enabled: known === undefined, staleMs: 300_000 },
  )
  const isBare = known === undefined && whole.data?.places.length === 0
  const byCity = useAnswer(
    'suggest-places',
    { query: { q: city, limit: suggestionsMax } },
    { enabled: isBare, staleMs: 300_000 },
  )
  const found = (isBare ? byCity : whole).data?.places ?? []
  const offered = known ?? found.map(({ place }) => place)
  return (
    <Text size="sm" component="div" mih={24} style={{ overflowWrap: 'anywhere' }}>
      {end === 'origin' ? 'Origin' : 'Destination'} “{typed}” is not a known place.{' '}
      {offered.length > 0 && (
        <>
          Did you mean{' '}
          {offered.map((place, index) => (
            <span key={place}>
              {index > 0 && (index === offered.length - 1 ? ' or ' : ', ')}
              <TextLink to={pagePaths.lane} query={changed(laneOf(address), { [end]: place })}>
                {place}
              </TextLink>
            </span>
          ))}
          ?
        </>
      )}
    </Text>
  )
}
