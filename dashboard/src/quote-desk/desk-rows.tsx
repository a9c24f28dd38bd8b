import { IconChevronDown, IconChevronUp, IconCopyPlus, IconTrash } from 'virtual:tabler-icons'
import { ActionIcon, Button, Group, Text, TextInput, UnstyledButton } from '@mantine/core'
import { type ClipboardEvent, type KeyboardEvent, memo, type ReactNode, useEffect, useState } from 'react'
import { useAnswer, useSession } from '../api/index.ts'
import {
  basisNames,
  count,
  dollars,
  EquipmentInput,
  InRed,
  ModeChoice,
  modeNames,
  noTerms,
  PlaceInput,
  percent,
  probability,
  RateTermsFields,
  RateTypeChoice,
  readDollars,
  readEquipment,
  roundDollars,
  saysTerms,
  termsInWords,
} from '../shared-ui/index.ts'
import type { UnknownEnds } from './desk-answer.ts'
import { type DeskError, type DeskLane, hasState, type LaneField, loadOf } from './desk-draft.ts'
import { figuresOf, type RowAdvice, type RowFigures } from './desk-lanes-advice.ts'
import { routeInWords } from './desk-route.tsx'

const offeredMax = 8
const suggestedMax = 3

export interface RowProps {
  readonly lane: DeskLane
  readonly number: number
  readonly active: boolean
  readonly only: boolean
  readonly errors: readonly DeskError[]
  readonly unknown: UnknownEnds
  /** The figures of the card, for the lane that the card is about; null for the other lanes, and while it has no advice. */
  readonly ofCard: RowFigures | null
  /** The advice for the row, with its warnings; null for a single lane, and while it is loading. */
  readonly advice: RowAdvice | null
  /** Identical for every row and every render, so that typing in one row re-renders only that row. */
  readonly on: RowEvents
}

/** The events of a row. */
export interface RowEvents {
  readonly change: (lane: DeskLane, field: LaneField, text: string) => void
  readonly activate: (lane: DeskLane) => void
  /** Enter in a field after the places. */
  readonly enter: (lane: DeskLane) => void
  readonly duplicate: (lane: DeskLane) => void
  readonly remove: (lane: DeskLane) => void
  /** Returns true when the pasted text contains rows of lanes. The field then ignores the paste. */
  readonly paste: (text: string) => boolean
}

const moreFields = [
  'rateType',
  'mode',
  'stops',
  'market',
  ...(Object.keys(noTerms) as (keyof typeof noTerms)[]),
] as const

/**
 * One lane of the request: a row of the grid, or a card where there is little room. The rate follows the equipment in the order of
 * the Tab key, before the cost and the pickup date at its left: these are optional.
 */
export const DeskRow = memo(function DeskRow(props: RowProps) {
  const { lane, number, active, errors, unknown, ofCard, advice, on } = props
  const figures = ofCard ?? (advice === null ? null : figuresOf(lane, advice))
  const onChange = (field: LaneField, text: string) => on.change(lane, field, text)
  const [opened, setOpened] = useState(false)
  const errorAt = (field: LaneField) => errors.find((error) => error.field === field)
  const hasMore = opened || moreFields.some((field) => errorAt(field) !== undefined)
  const paste = (event: ClipboardEvent) => {
    if (on.paste(event.clipboardData.getData('text'))) event.preventDefault()
  }
  const enter = onPlainEnter(() => on.enter(lane))
  const more = (field: LaneField) => ({
    value: lane[field],
    error: errorAt(field)?.text,
    'data-field': `${lane.id}-${field}`,
  })
  // A cell of the row: its parts are items of the grid.
  const input = (field: LaneField) => ({ ...more(field), className: `desk-cell desk-${field}` })
  const place = (field: 'origin' | 'destination') => ({
    ...input(field),
    problem: errorAt(field),
    isUnknown: unknown[field],
    onChange: (text: string) => onChange(field, text),
  })
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a grid everywhere
    <div
      role="group"
      aria-label={`Lane ${number}`}
      className="desk-row"
      data-active={active || undefined}
      onFocus={() => on.activate(lane)}
      onPaste={paste}
    >
      <PlaceField label="Origin" {...place('origin')} />
      <PlaceField label="Destination" {...place('destination')} />
      <EquipmentField {...input('equipment')} onChange={(text) => onChange('equipment', text)} />
      <RateField
        {...input('rate')}
        lane={lane}
        number={number}
        toQuote={figures?.toQuote ?? null}
        hasMore={hasMore}
        onMore={() => setOpened(!hasMore)}
        onChange={(text) => onChange('rate', text)}
        onKeyDown={enter}
      />
      <TextInput
        label="Cost"
        inputMode="decimal"
        autoComplete="off"
        {...input('cost')}
        onChange={(event) => onChange('cost', event.currentTarget.value)}
        onKeyDown={enter}
      />
      <TextInput
        label="Pickup"
        type="date"
        {...input('pickup')}
        data-empty={lane.pickup === '' || undefined}
        onChange={(event) => onChange('pickup', event.currentTarget.value)}
        onKeyDown={enter}
      />
      <Figures figures={figures} />
      <MoreButton number={number} hasMore={hasMore} onMore={() => setOpened(!hasMore)} />
      {hasMore && <MoreFields {...props} input={more} onChange={onChange} onEnter={enter} />}
      <RowLine lane={lane} advice={advice} isShort={hasMore} />
    </div>
  )
})

/** The chance and the margin of the typed rate. */
function Figures({ figures }: { figures: RowFigures | null }) {
  const { chance = null, margin = null, rate = null } = figures ?? {}
  const isLoss = margin !== null && margin < 0
  return (
    <>
      <div className="desk-cell desk-figure desk-chance">
        <span>Chance</span>
        <span>{chance === null ? '–' : probability(chance)}</span>
      </div>
      <div className="desk-cell desk-figure desk-margin">
        <span>Margin</span>
        <span
          {...(margin === null || rate === null
            ? {}
            : { title: `${dollars(margin)} (${percent((margin / rate) * 100)})` })}
        >
          <InRed when={isLoss}>{roundDollars(margin)}</InRed>
        </span>
      </div>
    </>
  )
}

/** The equipment, which becomes its code when the field is left. */
function EquipmentField(props: {
  value: string
  error: ReactNode
  className: string
  'data-field': string
  onChange: (text: string) => void
}) {
  return (
    <EquipmentInput
      label="Equipment"
      openOnFocus={false}
      {...props}
      onDone={(text) => {
        const read = readEquipment(text)
        if (read !== text) props.onChange(read)
      }}
    />
  )
}

/** The line below a row: the fields behind the arrow while they are closed, and warnings. Without them, there is none. */
function RowLine({ lane, advice, isShort }: Pick<RowProps, 'lane' | 'advice'> & { isShort: boolean }) {
  const { default_basis: assumed } = useSession().tenant
  const words = isShort ? [] : moreInWords(lane, assumed)
  const warnings = advice?.warnings ?? []
  const isApart = advice !== null && advice.conversion === null
  const route = advice?.route === undefined ? [] : [routeInWords(advice.route)]
  if (words.length + route.length + warnings.length === 0 && !isApart) return null
  return (
    <Text size="xs" component="div" className="desk-row-line desk-figures">
      {[...words, ...route].map((word) => (
        <span key={word}>{word}</span>
      ))}
      {isApart && (
        <span className="desk-flag">cannot be compared: the fuel charge or exchange rate is not known</span>
      )}
      {warnings.map(({ code, detail }) => (
        <span key={code} className="desk-flag">
          ⚠ {detail}
        </span>
      ))}
    </Text>
  )
}

/** The filled fields behind the arrow. @example moreInWords({ ...lane, market: '1800' }, 'all_in') // ['market $1,800'] */
function moreInWords(lane: DeskLane, assumed: 'linehaul' | 'all_in'): string[] {
  const amount = (text: string) => {
    const read = readDollars(text)
    return read === null ? text : dollars(read)
  }
  return [
    ...(lane.rateType === '' ? [] : [lane.rateType]),
    ...(lane.mode === '' ? [] : [modeNames[loadOf(lane).mode ?? 'truckload']]),
    ...(lane.stops === '' ? [] : [`via ${lane.stops}`]),
    ...(lane.market === '' ? [] : [`market ${amount(lane.market)}`]),
    ...(saysTerms(lane) ? [termsInWords(lane, assumed)] : []),
    ...(lane.fuel === '' ? [] : [`fuel ${amount(lane.fuel)}`]),
    ...(lane.charges === '' ? [] : [lane.charges]),
  ]
}

const onPlainEnter = (run: () => void) => (event: KeyboardEvent) => {
  if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  run()
}

function termsErrorsOf(errors: readonly DeskError[]) {
  return Object.fromEntries(errors.map(({ field, text }) => [field, text]))
}

/** The rate, with a small button that says what it includes and opens the fields for that. */
function RateField({
  lane,
  number,
  toQuote,
  hasMore,
  onMore,
  onChange,
  ...input
}: {
  lane: DeskLane
  number: number
  /** The rate to quote on the terms of the lane: the field shows it while it is empty. */
  toQuote: number | null
  hasMore: boolean
  onMore: () => void
  value: string
  error: string | undefined
  className: string
  'data-field': string
  onChange: (text: string) => void
  onKeyDown: (event: KeyboardEvent) => void
}) {
  const { default_basis: assumed } = useSession().tenant
  const words = termsInWords(lane, assumed)
  const basis = lane.basis === '' ? assumed : lane.basis
  return (
    <TextInput
      label="Rate"
      inputMode="decimal"
      autoComplete="off"
      {...input}
      placeholder={toQuote === null ? '' : count(toQuote)}
      onChange={(event) => onChange(event.currentTarget.value)}
      rightSectionWidth={44}
      rightSection={
        <UnstyledButton
          className="desk-terms-button"
          aria-expanded={hasMore}
          aria-label={`Lane ${number} is ${words}: change`}
          title={words}
          onClick={onMore}
        >
          {basis === 'linehaul' ? 'LH' : basisNames[basis]}
          {/* In a line of its own: a row is narrow. */}
          {lane.currency === 'CAD' && (
            <>
              <br />
              CAD
            </>
          )}
        </UnstyledButton>
      }
    />
  )
}

function MoreFields({
  lane,
  number,
  only,
  errors,
  on,
  input,
  onChange,
  onEnter,
}: RowProps & {
  input: (field: LaneField) => { value: string; error: string | undefined; 'data-field': string }
  onChange: (field: LaneField, text: string) => void
  onEnter: (event: KeyboardEvent) => void
}) {
  const { default_rate_type: assumedType, default_basis: assumed } = useSession().tenant
  const { value, error, 'data-field': name } = input('market')
  const ofType = input('rateType')
  return (
    <div className="desk-more">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: one shortcut for all fields inside */}
      <div className="desk-more-fields" onKeyDown={onEnter}>
        <RateTypeChoice
          value={ofType.value}
          error={ofType.error}
          data-field={ofType['data-field']}
          assumed={assumedType}
          onChange={(text) => onChange('rateType', text)}
        />
        <ModeChoice {...input('mode')} onChange={(text) => onChange('mode', text)} />
        <TextInput
          label="Stops in between"
          placeholder="Memphis, TN; Nashville, TN"
          autoComplete="off"
          {...input('stops')}
          onChange={(event) => onChange('stops', event.currentTarget.value)}
        />
        <RateTermsFields
          terms={lane}
          assumed={assumed}
          errors={termsErrorsOf(errors)}
          nameOf={(field) => `${lane.id}-${field}`}
          onChange={onChange}
        />
        <TextInput
          label="Market rate"
          leftSection="$"
          inputMode="decimal"
          autoComplete="off"
          value={value}
          error={error}
          data-field={name}
          onChange={(event) => onChange('market', event.currentTarget.value)}
        />
      </div>
      <Group gap="xs">
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Duplicate lane ${number}`}
          leftSection={<IconCopyPlus size={16} aria-hidden />}
          onClick={() => on.duplicate(lane)}
        >
          Duplicate
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          aria-label={only ? 'Clear the form' : `Remove lane ${number}`}
          leftSection={<IconTrash size={16} aria-hidden />}
          onClick={() => on.remove(lane)}
        >
          {only ? 'Clear the form' : 'Remove'}
        </Button>
      </Group>
    </div>
  )
}

function MoreButton({ number, hasMore, onMore }: { number: number; hasMore: boolean; onMore: () => void }) {
  return (
    <ActionIcon
      variant="subtle"
      size={26}
      className="desk-more-button"
      aria-expanded={hasMore}
      aria-label={`More of lane ${number}`}
      title="More"
      onClick={onMore}
    >
      {hasMore ? <IconChevronUp size={16} aria-hidden /> : <IconChevronDown size={16} aria-hidden />}
    </ActionIcon>
  )
}

function PlaceField({
  label,
  value,
  error,
  problem,
  isUnknown,
  onChange,
  ...more
}: {
  label: string
  value: string
  error: string | undefined
  problem: DeskError | undefined
  isUnknown: boolean
  className: string
  'data-field': string
  onChange: (text: string) => void
}) {
  const [isDone, setDone] = useState(false)
  const typed = value.trim()
  const incomplete = isDone && typed !== '' && !hasState(typed)
  const offered = useAnswer(
    'suggest-places',
    { query: { q: typed, limit: offeredMax } },
    { enabled: incomplete || isUnknown, staleMs: 300_000 },
  )
  const readsAs = incomplete ? (offered.data?.reads_as ?? null) : null
  useEffect(() => {
    // The service read the text as a known place, for example 75201, DFW or "Dallas TX".
    if (readsAs !== null) onChange(readsAs)
  })
  const near = (offered.data?.places ?? []).map(({ place }) => place).slice(0, suggestedMax)
  const shown = notice()
  function notice(): { text: string; suggestions: readonly string[] } | null {
    if (problem !== undefined) return { text: error ?? problem.text, suggestions: problem.suggestions }
    if (incomplete) return { text: near.length > 0 ? 'Which one?' : 'Add the state', suggestions: near }
    if (isUnknown) {
      return {
        text: near.length > 0 ? 'Unknown place. Did you mean' : 'Unknown place.',
        suggestions: near,
      }
    }
    return null
  }
  return (
    <PlaceInput
      {...more}
      label={label}
      openOnFocus={false}
      value={value}
      error={shown === null ? undefined : <Suggested {...shown} onUse={onChange} />}
      onChange={(text) => {
        setDone(false)
        onChange(text)
      }}
      onFocus={() => setDone(false)}
      onDone={() => setDone(true)}
    />
  )
}

/**
 * A text with suggestions, each a button that uses it. They appear while the person types on, so they take no Tab stop: the list
 * of the field has the same suggestions for the keyboard.
 */
export function Suggested({
  text,
  suggestions,
  onUse,
}: {
  text: string
  suggestions: readonly string[]
  onUse: (place: string) => void
}): ReactNode {
  return (
    <>
      {text}{' '}
      {suggestions.map((place) => (
        <UnstyledButton key={place} className="desk-suggestion" tabIndex={-1} onClick={() => onUse(place)}>
          {place}
        </UnstyledButton>
      ))}
    </>
  )
}

/** The keyboard shortcuts of the desk. */
export function KeyboardHint() {
  return (
    <Text size="xs" c="dimmed" visibleFrom="sm">
      Nothing is quoted until you save. Enter after the rate: next lane. Ctrl or ⌘ + Enter: save. Alt + U: use
      the rate to quote. You can paste spreadsheet rows into any field.
    </Text>
  )
}
