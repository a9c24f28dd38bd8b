import { Paper, Text, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { TextLink } from '../shared-ui/index.ts'
import { type AddressChange, changed, nothingChosen, useLaneAddress } from './lane-address.ts'

/** A section of the lane page. */
export function LaneSection({
  title,
  hint,
  aside,
  busy = false,
  children,
  id,
}: {
  title: string
  hint?: ReactNode
  aside?: ReactNode
  busy?: boolean
  children: ReactNode
  id?: string
}) {
  const heading = useId()
  return (
    <Paper
      withBorder
      p="md"
      component="section"
      aria-labelledby={heading}
      aria-busy={busy}
      {...(id === undefined ? {} : { id })}
      style={{ minWidth: 0, scrollMarginTop: 64 }}
    >
      <div
        style={{
          display: 'flex',
          flexWrap: 'wrap',
          gap: '0.25rem 1rem',
          justifyContent: 'space-between',
          alignItems: 'baseline',
          marginBottom: '0.6rem',
        }}
      >
        <div>
          <Title order={2} size="h4" id={heading}>
            {title}
          </Title>
          {hint !== undefined && (
            <Text size="sm" c="dimmed">
              {hint}
            </Text>
          )}
        </div>
        {aside}
      </div>
      {children}
    </Paper>
  )
}

/** The id of the table of the lane's quotes, for links. */
export const quotesAnchor = 'quotes'

/** Links a number to the quotes behind it, in the table of this page. */
export function QuotesLink({ chosen, children }: { chosen: AddressChange; children: ReactNode }) {
  const { address } = useLaneAddress()
  return (
    <TextLink
      to={pagePaths.lane}
      query={changed(address, { ...nothingChosen, ...chosen })}
      hash={quotesAnchor}
      stays
    >
      {children}
    </TextLink>
  )
}

/** A figure with its label above and its basis below. */
export function Figure({ label, value, basis }: { label: string; value: ReactNode; basis?: ReactNode }) {
  return (
    <div style={{ minWidth: 0 }}>
      <Text component="dt" size="xs" c="dimmed">
        {label}
      </Text>
      <Text component="dd" m={0} fw={650} size="lg" lh={1.25} style={{ overflowWrap: 'anywhere' }}>
        {value}
      </Text>
      {basis !== undefined && (
        <Text component="dd" m={0} size="xs" c="dimmed">
          {basis}
        </Text>
      )}
    </div>
  )
}

/** A grid of figures. */
export function Figures({ children }: { children: ReactNode }) {
  return (
    <dl
      style={{
        margin: 0,
        display: 'grid',
        gridTemplateColumns: 'repeat(auto-fit, minmax(8.5rem, 1fr))',
        gap: '0.85rem 1.25rem',
      }}
    >
      {children}
    </dl>
  )
}

const marks = {
  won: ['●', 'Won', 'var(--won)'],
  lost: ['✕', 'Lost', 'var(--lost)'],
  pending: ['○', 'Pending', 'var(--pending)'],
} as const

/** An outcome as an icon and a word. */
export function OutcomeMark({ outcome }: { outcome: keyof typeof marks }) {
  const [mark, word, color] = marks[outcome]
  return (
    <span style={{ color, fontWeight: 600, whiteSpace: 'nowrap' }}>
      <span aria-hidden>{mark}</span> {word}
    </span>
  )
}
