import { Button, Group, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, useAnswer, useChange } from '../api/index.ts'
import { Failed, Loading, Nothing, since, TextLink } from '../shared-ui/index.ts'

type Watch = Answer<'list-watches'>['watches'][number]

const laneWords = /^(?:Market of )?(?<origin>.+, \w+) to (?<destination>.+?, \w+)(?:, (?<equipment>\w+))?$/

/** The page of what is followed, by its words. A market is on the page of the lane whose places name it. */
function pageOf({ kind, label }: Watch) {
  return kind === 'customer'
    ? { to: pagePaths.customers, query: { name: label } }
    : { to: pagePaths.lane, query: { ...laneWords.exec(label)?.groups } }
}

/** What the person follows, with what moved, and a button to stop. */
export function Watches() {
  const { data, error, refetch } = useAnswer('list-watches', {})
  const stop = useChange('stop-following')
  const queries = useQueryClient()
  if (error !== null && data === undefined) {
    return <Failed error={error} title="What you follow could not be loaded" retry={() => void refetch()} />
  }
  if (data === undefined) return <Loading label="Loading what you follow" height={52} />
  if (data.watches.length === 0) {
    return (
      <Nothing title="You do not follow anything yet">Open a lane or a customer, and choose Follow.</Nothing>
    )
  }
  return (
    <Stack>
      <Stack component="ul" aria-label="What you follow" gap="sm" m={0} p={0} style={{ listStyle: 'none' }}>
        {data.watches.map((watch) => (
          <li key={watch.id}>
            <Group justify="space-between" align="flex-start" wrap="nowrap">
              <Followed watch={watch} />
              <Button
                size="compact-sm"
                variant="default"
                aria-label={`Stop following ${watch.label}`}
                style={{ flexShrink: 0 }}
                onClick={() =>
                  stop.mutate(
                    { params: { id: watch.id } },
                    { onSuccess: () => void queries.invalidateQueries({ queryKey: ['list-watches'] }) },
                  )
                }
              >
                Stop following
              </Button>
            </Group>
          </li>
        ))}
      </Stack>
      {stop.error !== null && <Failed error={stop.error} title="Not changed" />}
    </Stack>
  )
}

function Followed({ watch }: { watch: Watch }) {
  const { label, moves, followed_at: at } = watch
  return (
    <Stack gap={2} style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
      <Text fw={600}>
        <TextLink {...pageOf(watch)}>{label}</TextLink>
      </Text>
      {moves.length === 0 ? (
        <Text size="sm">Nothing has moved. Followed {since(at)}.</Text>
      ) : (
        moves.map(({ metric, found_at: found, title, detail }) => (
          <Text size="sm" key={`${metric} ${found}`}>
            {capitalized(title.replace(`${label}: `, ''))}. {detail}
          </Text>
        ))
      )}
    </Stack>
  )
}

const capitalized = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
