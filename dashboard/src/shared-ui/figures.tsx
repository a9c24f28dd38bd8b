import { Paper, Skeleton, Text } from '@mantine/core'
import type { ReactNode } from 'react'

export interface Figure {
  readonly label: string
  readonly value: ReactNode
  /** The basis of the figure, such as the number of shipments. */
  readonly note: ReactNode
}

/** The figures of a page, side by side. While they load, placeholders keep the layout stable. */
export function Figures({
  label,
  figures,
  loading,
}: {
  label: string
  figures: readonly Figure[]
  loading: boolean
}) {
  return (
    <Paper withBorder p="md" component="section" aria-label={label} aria-busy={loading}>
      <dl
        style={{
          display: 'grid',
          gridTemplateColumns: 'repeat(auto-fit, minmax(8.5rem, 1fr))',
          gap: 'var(--mantine-spacing-md)',
          margin: 0,
        }}
      >
        {figures.map((figure) => (
          <div key={figure.label}>
            <Text component="dt" size="sm" c="dimmed">
              {figure.label}
            </Text>
            <Text component="dd" m={0} fz="lg" fw={650} lh={1.4}>
              {loading ? <Skeleton height={26} width="70%" component="span" display="block" /> : figure.value}
            </Text>
            <Text component="dd" m={0} size="xs" c="dimmed" mih="2.8em">
              {loading ? ' ' : figure.note}
            </Text>
          </div>
        ))}
      </dl>
    </Paper>
  )
}
