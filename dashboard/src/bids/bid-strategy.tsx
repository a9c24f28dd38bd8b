import { Button, Group, NativeSelect, NumberInput, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { STATES_OF_REGION } from '#engine/regions.ts'
import { type Answer, type Body, useChange } from '../api/index.ts'
import { counted, Failed, Figures, probability, Section, signedDollars } from '../shared-ui/index.ts'
import { type Bid, pointsInWords } from './bid-words.ts'
import { useBidChanged } from './use-bid.ts'

type Asked = Body<'preview-bid-strategy'>
type Kind = Asked['strategy']
type Preview = Answer<'preview-bid-strategy'>

const kinds: readonly { value: Kind; label: string }[] = [
  { value: 'suggested', label: 'Use the rates to quote' },
  { value: 'move', label: 'Move rates by percent' },
  { value: 'minimum_margin', label: 'At least this margin, in percent' },
  { value: 'meet_target', label: 'Meet targets that leave this margin, in percent' },
  { value: 'target_share', label: 'Win this share of the loads, in percent' },
]
const pctAtFirst: Readonly<Record<Kind, number>> = {
  suggested: 0,
  move: -2,
  minimum_margin: 10,
  meet_target: 5,
  target_share: 40,
}
const regions = [{ value: '', label: 'Anywhere' }, ...Object.keys(STATES_OF_REGION)]

/** A strategy as it is typed. An empty text leaves its limit out. */
interface Typed {
  readonly kind: Kind
  readonly pct: number | string
  readonly from: string
  readonly to: string
  readonly state: string
  readonly milesMin: number | string
  readonly milesMax: number | string
}
const typedAtFirst: Typed = {
  kind: 'suggested',
  pct: 0,
  from: '',
  to: '',
  state: '',
  milesMin: '',
  milesMax: '',
}

const askedOf = ({ kind, pct, from, to, state, milesMin, milesMax }: Typed): Asked => ({
  strategy: kind,
  ...(kind === 'suggested' ? {} : { pct: Number(pct) }),
  ...(from === '' ? {} : { origin_region: from }),
  ...(to === '' ? {} : { destination_region: to }),
  ...(state.trim() === '' ? {} : { origin_state: state.trim().toUpperCase() }),
  ...(milesMin === '' ? {} : { miles_min: Number(milesMin) }),
  ...(milesMax === '' ? {} : { miles_max: Number(milesMax) }),
})

/** Changes the rates of many lanes: see what it does first, then apply it as one change. */
export function BidStrategy({ bid }: { bid: Bid }) {
  const [typed, setTyped] = useState(typedAtFirst)
  const preview = useChange('preview-bid-strategy')
  const apply = useChange('apply-bid-strategy')
  const { reread } = useBidChanged(bid.bid_id)
  const asked = askedOf(typed)
  const params = { bid_id: bid.bid_id }
  // A preview of something else is no longer shown.
  const shown =
    preview.data !== undefined &&
    JSON.stringify(preview.variables?.body) === JSON.stringify(asked) &&
    preview.data.seen_change === bid.last_change
      ? preview.data
      : null
  return (
    <Section
      title="Strategy"
      hint="Changes many rates at once. Each strategy is one change, which one undo reverts."
    >
      <Stack gap="sm">
        <Group gap="sm" align="flex-end">
          <StrategyFields typed={typed} onTyped={(next) => setTyped({ ...typed, ...next })} />
          <Button
            variant="default"
            loading={preview.isPending}
            onClick={() => preview.mutate({ params, body: asked })}
          >
            Preview
          </Button>
        </Group>
        {preview.error !== null && <Failed error={preview.error} title="There is no preview" />}
        {shown !== null && (
          <>
            <PreviewFigures preview={shown} />
            <Group>
              <Button
                disabled={shown.changed === 0}
                loading={apply.isPending}
                onClick={() =>
                  apply.mutate(
                    { params, body: { ...asked, seen_change: shown.seen_change } },
                    { onSuccess: () => void reread() },
                  )
                }
              >
                Apply to {counted(shown.changed, 'lane')}
              </Button>
              <Text size="sm" c="dimmed">
                {previewNotes(shown)}
              </Text>
            </Group>
          </>
        )}
        {apply.error !== null && <Failed error={apply.error} title="Nothing was changed" />}
      </Stack>
    </Section>
  )
}

/** What the strategy does, and to which lanes. */
function StrategyFields({ typed, onTyped }: { typed: Typed; onTyped: (next: Partial<Typed>) => void }) {
  return (
    <>
      <NativeSelect
        label="Strategy"
        value={typed.kind}
        data={[...kinds]}
        onChange={(event) => {
          const kind = event.currentTarget.value as Kind
          onTyped({ kind, pct: pctAtFirst[kind] })
        }}
      />
      {typed.kind !== 'suggested' && (
        <NumberInput
          label="Percent"
          value={typed.pct}
          onChange={(pct) => onTyped({ pct })}
          min={-50}
          max={100}
          w="7rem"
        />
      )}
      <NativeSelect
        label="From region"
        value={typed.from}
        data={regions}
        onChange={(event) => onTyped({ from: event.currentTarget.value })}
      />
      <NativeSelect
        label="To region"
        value={typed.to}
        data={regions}
        onChange={(event) => onTyped({ to: event.currentTarget.value })}
      />
      <TextInput
        label="From state"
        value={typed.state}
        w="6rem"
        onChange={(event) => onTyped({ state: event.currentTarget.value })}
      />
      <NumberInput
        label="Miles from"
        value={typed.milesMin}
        onChange={(milesMin) => onTyped({ milesMin })}
        min={0}
        max={10_000}
        w="7rem"
      />
      <NumberInput
        label="Miles to"
        value={typed.milesMax}
        onChange={(milesMax) => onTyped({ milesMax })}
        min={0}
        max={10_000}
        w="7rem"
      />
    </>
  )
}

function previewNotes({ not_known: unknown, held_at_minimum: held, moved_pct: moved }: Preview): string {
  return [
    ...(moved === null ? [] : [`The rates to quote move by ${moved}%.`]),
    ...(held > 0 ? [`${counted(held, 'lane stays', 'lanes stay')} at the minimum of your rules.`] : []),
    ...(unknown > 0 ? [`${counted(unknown, 'lane')} cannot be rated this way.`] : []),
  ].join(' ')
}

function PreviewFigures({ preview: { before, after } }: { preview: Preview }) {
  const moved = (name: 'revenue' | 'margin' | 'expected_margin') => ({
    value: signedDollars(after[name] - before[name]),
    note: 'After, less before',
  })
  const shares =
    before.expected_share === null || after.expected_share === null
      ? null
      : after.expected_share - before.expected_share
  return (
    <Figures
      label="What the strategy changes"
      loading={false}
      figures={[
        { label: 'Value', ...moved('revenue') },
        { label: 'Margin', ...moved('margin') },
        { label: 'Expected profit', ...moved('expected_margin') },
        {
          label: 'Expected share',
          value: probability(after.expected_share),
          note: shares === null ? '' : pointsInWords(shares),
        },
      ]}
    />
  )
}
