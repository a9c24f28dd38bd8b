import { Paper, SimpleGrid, Skeleton, Text } from '@mantine/core'
import type { ReactNode } from 'react'

export interface Figure {
  readonly label: string
  readonly value: ReactNode
  /** Over what it was counted: a figure without its count says too much. */
  readonly note: ReactNode
}

/** The figures of a page, side by side. Their places are kept while they are on their way. */
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
      <SimpleGrid component="dl" cols={{ base: 2, sm: 3, lg: figures.length }} spacing="md" m={0}>
        {figures.map((figure) => (
          <div key={figure.label}>
            <Text component="dt" size="sm" c="dimmed">
              {figure.label}
            </Text>
            <Text component="dd" m={0} fz="xl" fw={650} lh={1.3}>
              {loading ? <Skeleton height={26} width="70%" component="span" display="block" /> : figure.value}
            </Text>
            <Text component="dd" m={0} size="xs" c="dimmed" mih="2.6em">
              {loading ? ' ' : figure.note}
            </Text>
          </div>
        ))}
      </SimpleGrid>
    </Paper>
  )
}
