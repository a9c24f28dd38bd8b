import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useChange } from '../api/index.ts'
import { counted, Failed, PlaceInput, Section } from '../shared-ui/index.ts'
import type { Bid } from './bid-words.ts'
import { useBidChanged } from './use-bid.ts'

type Unknown = Bid['places'][number]

/** The texts of the shipper that are no known place: a person says what each means. */
export function BidPlaces({
  bidId,
  places,
  mayWrite,
}: {
  bidId: number
  places: readonly Unknown[]
  mayWrite: boolean
}) {
  return (
    <Section
      title="Unknown places"
      hint="These texts are no known place, and none is guessed. Their lanes have no price until you choose a place."
    >
      <Stack gap="sm">
        {places.map((place) => (
          <UnknownPlace key={`${place.end} ${place.sent}`} bidId={bidId} place={place} mayWrite={mayWrite} />
        ))}
      </Stack>
    </Section>
  )
}

function UnknownPlace({ bidId, place, mayWrite }: { bidId: number; place: Unknown; mayWrite: boolean }) {
  const { end, sent, lanes, closest } = place
  const [typed, setTyped] = useState('')
  const set = useChange('set-bid-place')
  const { reread } = useBidChanged(bidId)
  const choose = (chosen: string) =>
    set.mutate(
      { params: { bid_id: bidId }, body: { end, sent, place: chosen } },
      { onSuccess: () => void reread() },
    )
  return (
    <Stack gap={4} component="section" aria-label={`${end} ${sent}`}>
      <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
        “{sent}” as {end} of {counted(lanes, 'lane')}
      </Text>
      {mayWrite && (
        <Group gap="xs" align="flex-end">
          {closest.map((name) => (
            <Button key={name} variant="default" loading={set.isPending} onClick={() => choose(name)}>
              {name}
            </Button>
          ))}
          <PlaceInput label="Another place" value={typed} onChange={setTyped} />
          <Button disabled={typed.trim() === ''} loading={set.isPending} onClick={() => choose(typed)}>
            Use it
          </Button>
        </Group>
      )}
      {set.error !== null && <Failed error={set.error} title="Nothing was changed" />}
    </Stack>
  )
}
