import { Paper, Progress, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useAnswer } from '../api/index.ts'
import { Failed, Loading, TextLink } from '../shared-ui/index.ts'
import type { Step } from './step.ts'
import { StepRow } from './step-row.tsx'

const pollEveryMs = 5_000

/**
 * Steps with a bar. The service marks each as done when its action has happened. `whenDone` replaces them: null shows nothing.
 * With `rowsAt`, shows only the bar and a link to the rows.
 */
export function Steps({
  steps,
  whenDone,
  rowsAt,
}: {
  steps: readonly Step[]
  whenDone: string | null
  rowsAt?: Step['link']
}) {
  const answer = useAnswer('first-steps', {}, { everyMs: pollEveryMs, staleMs: 0 })
  const queries = useQueryClient()
  useEffect(() => {
    // The user may have completed a step on another page.
    void queries.invalidateQueries({ queryKey: ['first-steps'] })
  }, [queries])
  const { data: done, error } = answer
  if (error !== null && done === undefined) {
    return <Failed error={error} retry={() => void answer.refetch()} title="The steps could not be loaded" />
  }
  if (done === undefined) return <Loading label="Loading the steps" rows={5} height={56} />
  const count = steps.filter(({ name }) => done[name]).length
  const next = steps.find(({ name }) => !done[name])
  if (next === undefined && whenDone === null) return null
  return (
    <Stack gap="sm" maw={860} component="section" aria-label="Steps">
      <div>
        <Text size="sm" fw={600} mb={6} role="status">
          {next === undefined
            ? whenDone
            : `${count} of ${steps.length} done. Next: ${next.title.charAt(0).toLowerCase()}${next.title.slice(1)}.`}
          {rowsAt && (
            <>
              {' '}
              <TextLink to={rowsAt.to} query={rowsAt.search ?? {}}>
                {rowsAt.words}
              </TextLink>
            </>
          )}
        </Text>
        <Progress value={(100 * count) / steps.length} size="sm" aria-label="Steps done" />
      </div>
      {rowsAt === undefined && (
        <Paper withBorder component="ol" className="first-steps">
          {steps.map((step) => (
            <StepRow key={step.name} step={step} isDone={done[step.name]} isNext={step === next} />
          ))}
        </Paper>
      )}
    </Stack>
  )
}
