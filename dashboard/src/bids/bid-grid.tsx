import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ClipboardEvent, type KeyboardEvent, memo, useCallback, useRef, useState } from 'react'
import { type CallFailed, useChange } from '../api/index.ts'
import { count, dollars, laneName, readDollars, Section } from '../shared-ui/index.ts'
import { type BidLane, chanceInWords } from './bid-words.ts'
import { useBidChanged } from './use-bid.ts'
import './bid-grid.css'

/** The height of a row, in pixels: rows that are not on screen are not drawn. */
const rowHeight = 34
const rowsBeyond = 12

interface Cell {
  readonly lane: number
  readonly version: number
  readonly rate?: number
}

/** What could not be saved: another person changed these lanes meanwhile. */
interface Conflict {
  readonly cells: readonly Cell[]
  readonly error: CallFailed
}

/** Saves rates of lanes, and keeps what could not be saved. */
function useRates(bidId: number, lanes: readonly BidLane[]) {
  const { mutateAsync } = useChange('set-bid-rates')
  const { changed, reread } = useBidChanged(bidId)
  const [conflict, setConflict] = useState<Conflict | null>(null)
  const save = useCallback(
    (cells: readonly Cell[]) => {
      // Callbacks of `mutate` run for the latest call only, and several rates may be on their way.
      return mutateAsync({ params: { bid_id: bidId }, body: { cells: [...cells] } }).then(
        (answer) => {
          setConflict(null)
          changed(answer.lanes, answer.totals, answer.change)
        },
        (error: CallFailed) => {
          setConflict({ cells, error })
          void reread()
        },
      )
    },
    [mutateAsync, bidId, changed, reread],
  )
  const useMine = () => {
    if (conflict === null) return
    const versions = new Map(lanes.map((lane) => [lane.lane, lane.version]))
    void save(conflict.cells.map((cell) => ({ ...cell, version: versions.get(cell.lane) ?? cell.version })))
  }
  return { save, conflict, useMine, keepTheirs: () => setConflict(null) }
}

/**
 * The lanes with their rates. A rate is typed; Enter and the arrows save it and go to the next lane; a column that is pasted fills the
 * lanes from there on. A rate that another person changed meanwhile is never replaced unless the person says so.
 */
export function BidGrid({
  bidId,
  lanes,
  mayWrite,
}: {
  bidId: number
  lanes: readonly BidLane[]
  mayWrite: boolean
}) {
  const { save, conflict, useMine, keepTheirs } = useRates(bidId, lanes)
  const [shown, setShown] = useState<number | null>(null)
  const paste = useCallback(
    (index: number, texts: readonly string[]) => {
      const cells = texts.flatMap((text, at): Cell[] => {
        const lane = lanes[index + at]
        const rate = readDollars(text)
        return lane === undefined || rate === null || rate === lane.rate
          ? []
          : [{ lane: lane.lane, version: lane.version, rate }]
      })
      if (cells.length > 0) void save(cells)
    },
    [lanes, save],
  )
  const detail = shown === null ? undefined : lanes.find(({ lane }) => lane === shown)
  return (
    <Section
      title="Lanes"
      hint="Type a rate. Enter or an arrow key saves it and goes to the next lane. Paste a column to fill the lanes from there on."
    >
      <Stack gap="sm">
        {conflict !== null && (
          <ConflictNotice error={conflict.error} onKeepTheirs={keepTheirs} onUseMine={useMine} />
        )}
        <LaneTable lanes={lanes} mayWrite={mayWrite} onSave={save} onPaste={paste} onShow={setShown} />
        {detail !== undefined && <LaneReasons lane={detail} />}
      </Stack>
    </Section>
  )
}

function ConflictNotice({
  error,
  onKeepTheirs,
  onUseMine,
}: {
  error: CallFailed
  onKeepTheirs: () => void
  onUseMine: () => void
}) {
  return (
    <Alert color="red" variant="outline" role="alert" title="The rate was not saved">
      <Stack gap="xs">
        <Text size="sm">{error.message}</Text>
        {error.status === 409 && (
          <Group gap="xs">
            <Button size="compact-sm" variant="default" onClick={onKeepTheirs}>
              Keep theirs
            </Button>
            <Button size="compact-sm" variant="default" onClick={onUseMine}>
              Use mine
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  )
}

/** The rows of the lanes. Only those on screen, and a few beyond, are drawn. */
function LaneTable({
  lanes,
  ...rest
}: { readonly lanes: readonly BidLane[] } & Omit<RowProps, 'lane' | 'index' | 'onGo'>) {
  const frame = useRef<HTMLElement>(null)
  const virtual = useVirtualizer({
    count: lanes.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: rowsBeyond,
  })
  const drawn = virtual.getVirtualItems()
  const go = useCallback(
    (index: number) => {
      const lane = lanes[Math.min(index, lanes.length - 1)]
      if (lane === undefined) return
      const enter = () => {
        const input = frame.current?.querySelector<HTMLInputElement>(`[data-lane="${lane.lane}"]`)
        input?.focus()
        input?.select()
        return input?.isConnected === true
      }
      virtual.scrollToIndex(index)
      // At once: the next key would go to the cell that was left. A distant row is drawn in the next frame.
      if (!enter()) requestAnimationFrame(enter)
    },
    [lanes, virtual],
  )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable frames must be reachable by keyboard
    <section className="table-frame bid-grid" ref={frame} aria-label="Lanes of the bid" tabIndex={0}>
      <table aria-rowcount={lanes.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {headers.map((header, at) => (
              <th key={header} scope="col" data-align={at < 3 ? undefined : 'right'}>
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap height={drawn[0]?.start ?? 0} />
          {drawn.map(({ index }) => {
            const lane = lanes[index]
            return lane === undefined ? null : (
              <LaneRow key={lane.lane} lane={lane} index={index} onGo={go} {...rest} />
            )
          })}
          <Gap height={virtual.getTotalSize() - (drawn.at(-1)?.end ?? 0)} />
        </tbody>
      </table>
    </section>
  )
}

/** The rows that are not drawn, as one empty row of their height. */
function Gap({ height }: { height: number }) {
  if (height <= 0) return null
  return (
    <tr aria-hidden style={{ height }}>
      <td colSpan={headers.length} />
    </tr>
  )
}

const headers = [
  'Lane',
  'From and to',
  'Eq.',
  'Loads',
  'Rate',
  'Chance',
  'Cost',
  'To quote',
  'Market',
  'Target',
  'Rank',
  'Last round',
] as const

interface RowProps {
  readonly lane: BidLane
  readonly index: number
  readonly mayWrite: boolean
  readonly onSave: (cells: readonly Cell[]) => Promise<void>
  readonly onGo: (index: number) => void
  readonly onPaste: (index: number, texts: readonly string[]) => void
  readonly onShow: (lane: number) => void
}

const LaneRow = memo(function LaneRow({ lane, index, mayWrite, onSave, onGo, onPaste, onShow }: RowProps) {
  const { priced } = lane
  return (
    <tr aria-rowindex={index + 2} style={{ height: rowHeight }} data-below={lane.below_minimum || undefined}>
      <td>
        <button
          type="button"
          className="bid-grid-lane"
          aria-label={`${lane.lane_id ?? lane.lane}: reasons of lane ${lane.lane}`}
          onClick={() => onShow(lane.lane)}
        >
          {lane.lane_id ?? lane.lane}
        </button>
      </td>
      <td className="bid-grid-name">
        {laneName(lane.origin ?? `“${lane.origin_sent}”`, lane.destination ?? `“${lane.destination_sent}”`)}
      </td>
      <td>{lane.equipment ?? 'any'}</td>
      <td data-align="right">{count(lane.loads)}</td>
      <td data-align="right">
        {mayWrite ? (
          <RateInput lane={lane} index={index} onSave={onSave} onGo={onGo} onPaste={onPaste} />
        ) : (
          dollars(lane.rate)
        )}
      </td>
      <td data-align="right">{chanceInWords(lane.chance)}</td>
      <td data-align="right">{dollars(priced?.expected_cost)}</td>
      <td data-align="right">{dollars(priced?.suggested)}</td>
      <td data-align="right">{dollars(priced?.market)}</td>
      <td data-align="right">{dollars(lane.target)}</td>
      <td data-align="right">{lane.rank ?? '–'}</td>
      <td data-align="right">{dollars(lane.previous_rate)}</td>
    </tr>
  )
})

function RateInput({
  lane,
  index,
  onSave,
  onGo,
  onPaste,
}: Pick<RowProps, 'lane' | 'index' | 'onSave' | 'onGo' | 'onPaste'>) {
  const before = lane.rate === null ? '' : String(lane.rate)
  const [text, setText] = useState(before)
  const [shown, setShown] = useState(lane)
  // A rate that arrives from elsewhere replaces what was shown. The focus stays.
  if (shown.version !== lane.version || shown.rate !== lane.rate) {
    setShown(lane)
    setText(before)
  }
  const rate = text.trim() === '' ? null : readDollars(text)
  const isWrong = text.trim() !== '' && (rate === null || rate <= 0)
  /** What is being saved: a second Enter must not save it again. */
  const sending = useRef<string | null>(null)
  const commit = () => {
    const sent = `${lane.version} ${rate}`
    if (isWrong || rate === lane.rate || sending.current === sent) return
    sending.current = sent
    void onSave([{ lane: lane.lane, version: lane.version, ...(rate === null ? {} : { rate }) }]).finally(
      () => {
        sending.current = null
      },
    )
  }
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const step = { Enter: event.shiftKey ? -1 : 1, ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[
      event.key
    ]
    if (event.key === 'Escape') setText(before)
    if (step === undefined) return
    event.preventDefault()
    // Leaving the cell saves it, also where there is no other one to go to.
    event.currentTarget.blur()
    onGo(Math.max(0, index + step))
  }
  const onPasted = (event: ClipboardEvent) => {
    const texts = event.clipboardData.getData('text/plain').trimEnd().split(/\r?\n/)
    if (texts.length < 2) return
    event.preventDefault()
    onPaste(index, texts)
  }
  return (
    <input
      className="bid-grid-rate"
      data-lane={lane.lane}
      inputMode="decimal"
      aria-label={`Rate of lane ${lane.lane}`}
      aria-invalid={isWrong}
      title={isWrong ? 'An amount in dollars, such as 2150.00' : undefined}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={onKeyDown}
      onPaste={onPasted}
      onBlur={commit}
    />
  )
}

function LaneReasons({ lane }: { lane: BidLane }) {
  const { priced } = lane
  const sentences = [
    ...lane.problems,
    ...(lane.duplicate_of === null ? [] : [`It repeats lane ${lane.duplicate_of}.`]),
    ...(priced === null ? ['It is not priced yet.'] : priced.reasons),
    ...(priced?.cost_low == null
      ? []
      : [
          `The expected cost is ${dollars(priced.expected_cost)}, and in four weeks between ${dollars(priced.cost_low)} and ${dollars(priced.cost_high)} in 8 of 10 cases.`,
        ]),
    ...(priced?.minimum == null ? [] : [`The minimum of your rules is ${dollars(priced.minimum)}.`]),
  ]
  return (
    <section aria-label={`Reasons of lane ${lane.lane}`} aria-live="polite">
      <Text size="sm" fw={600}>
        Lane {lane.lane}, row {lane.row} of the file
      </Text>
      <ul>
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </section>
  )
}
