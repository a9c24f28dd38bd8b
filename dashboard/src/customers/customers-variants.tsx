import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { type Answer, useAnswer, useMay } from '../api/index.ts'
import { CustomerLink, counted, Failed, Loading, Nothing } from '../shared-ui/index.ts'
import { useDecisions } from './customer-decisions.ts'

type Variant = Answer<'list-customer-variants'>['variants'][number]

const differences: Readonly<Record<Variant['because'], string>> = {
  punctuation: 'The names differ in punctuation, accents or the legal form.',
  spaces: 'The names differ in spaces.',
  typo: 'The names differ in one letter.',
}

/** Pairs of names that probably mean the same customer. Nothing is merged until a person says so. */
export function CustomerVariants() {
  const { data, error, refetch } = useAnswer('list-customer-variants', {})
  const mayChange = useMay('admin')
  if (error !== null) {
    return <Failed error={error} title="The similar names could not be loaded" retry={() => void refetch()} />
  }
  if (data === undefined) return <Loading label="Comparing the names" rows={5} height={80} />
  if (data.variants.length === 0) {
    return (
      <Nothing title="No similar names">No two customers have names that probably mean the same one.</Nothing>
    )
  }
  return (
    <Stack gap="sm">
      <Text size="sm">
        {mayChange
          ? 'These names probably mean the same customer. Merge them, or say that they are different customers: such pairs are last. A merge can be undone at any time on the page of the customer.'
          : 'These names probably mean the same customer. Owners and admins can merge them.'}
      </Text>
      {data.variants.map((variant) => (
        <VariantCard
          key={`${variant.keep.name}\n${variant.merge.name}`}
          variant={variant}
          mayChange={mayChange}
        />
      ))}
    </Stack>
  )
}

function VariantCard({
  variant: { keep, merge, because, decision },
  mayChange,
}: {
  variant: Variant
  mayChange: boolean
}) {
  const { decide, reopen, error, isPending } = useDecisions()
  const pair = { name: merge.name, other: keep.name }
  return (
    <Paper withBorder p="sm" component="section" aria-label={`${merge.name} and ${keep.name}`}>
      <Stack gap={6} style={{ overflowWrap: 'anywhere' }}>
        <Text size="sm">
          <CustomerLink name={merge.name} /> ({counted(merge.quotes, 'quote')}) and{' '}
          <CustomerLink name={keep.name} /> ({counted(keep.quotes, 'quote')})
        </Text>
        <Text size="xs" c="dimmed">
          {decision === 'different' ? 'A person decided: different customers. ' : ''}
          {differences[because]}
        </Text>
        {mayChange && (
          <Group gap="xs">
            <Button
              size="compact-sm"
              variant={decision === 'different' ? 'default' : 'filled'}
              loading={isPending}
              aria-label={`Merge into ${keep.name}: ${merge.name}`}
              onClick={() => decide(pair, 'same')}
              style={{ maxWidth: '100%' }}
            >
              Merge into {keep.name}
            </Button>
            {decision === 'different' ? (
              <Button
                size="compact-sm"
                variant="default"
                loading={isPending}
                aria-label={`${merge.name} and ${keep.name} are undecided`}
                onClick={() => reopen(pair)}
              >
                Undecided
              </Button>
            ) : (
              <Button
                size="compact-sm"
                variant="default"
                loading={isPending}
                aria-label={`${merge.name} and ${keep.name} are different customers`}
                onClick={() => decide(pair, 'different')}
              >
                Different customers
              </Button>
            )}
          </Group>
        )}
        {error !== null && <Failed error={error} title="Nothing was changed" />}
      </Stack>
    </Paper>
  )
}
