import { Button, Group, Paper, Progress, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { type Answer, useAnswer } from '../api/index.ts'
import { Failed, Loading, Page } from '../shared-ui/index.ts'
import { useStartHidden } from '../shell/index.ts'
import { firstSteps } from './first-steps-list.ts'
import { FirstStepRow } from './first-steps-row.tsx'

const pollEveryMs = 5_000

/** The steps from sign-up to the first API call. The service marks each step as done when its action has happened. */
export default function FirstStepsPage() {
  const steps = useAnswer('first-steps', {}, { everyMs: pollEveryMs, staleMs: 0 })
  const queries = useQueryClient()
  useEffect(() => {
    // The user may have completed a step on another page.
    void queries.invalidateQueries({ queryKey: ['first-steps'] })
  }, [queries])
  return (
    <Page title="Get started" hint="From your past quotes to the first API call." actions={<HideButton />}>
      {steps.data === undefined ? (
        steps.error === null ? (
          <Loading label="Loading the steps" rows={9} height={56} />
        ) : (
          <Failed
            error={steps.error}
            retry={() => void steps.refetch()}
            title="The steps could not be loaded"
          />
        )
      ) : (
        <Steps done={steps.data} />
      )}
    </Page>
  )
}

function HideButton() {
  const [isHidden, setHidden] = useStartHidden()
  return (
    <Button variant="default" onClick={() => setHidden(!isHidden)}>
      {isHidden ? 'Show in menu' : 'Hide from menu'}
    </Button>
  )
}

function Steps({ done }: { done: Answer<'first-steps'> }) {
  const all = firstSteps.flatMap(({ steps }) => steps)
  const count = all.filter(({ name }) => done[name]).length
  const next = all.find(({ name }) => !done[name])
  return (
    <Stack gap="lg" maw={860}>
      <div>
        <Text size="sm" fw={600} mb={6} role="status">
          {next === undefined
            ? 'All done. This page is no longer in the menu.'
            : `${count} of ${all.length} done. Next: ${next.title.toLowerCase()}.`}
        </Text>
        <Progress value={(100 * count) / all.length} size="sm" aria-label="Steps done" />
      </div>
      {firstSteps.map(({ heading, steps }) => (
        <section key={heading} aria-label={heading}>
          <Group mb="xs">
            <Title order={2} size="h4">
              {heading}
            </Title>
          </Group>
          <Paper withBorder component="ol" className="first-steps">
            {steps.map((step) => (
              <FirstStepRow key={step.name} step={step} isDone={done[step.name]} isNext={step === next} />
            ))}
          </Paper>
        </section>
      ))}
    </Stack>
  )
}
