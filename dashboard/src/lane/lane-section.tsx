import { Paper, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { TextLink } from '../shared-ui/index.ts'
import { type AddressChange, changed, nothingChosen, useLaneAddress } from './lane-address.ts'

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

/** Whether a part of the page is open, and a function that opens or closes it. */
export type Opening = readonly [isOpen: boolean, setOpen: (isOpen: boolean) => void]

/** A part of the page that loads when it is opened. */
export function More({
  title,
  opening: [isOpen, setOpen],
  children,
}: {
  title: string
  opening: Opening
  children: ReactNode
}) {
  return (
    <Paper
      withBorder
      p="md"
      component="details"
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <Text component="summary" fw={650} style={{ cursor: 'pointer' }}>
        {title}
      </Text>
      {isOpen && (
        <Stack gap="md" pt="md">
          {children}
        </Stack>
      )}
    </Paper>
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
