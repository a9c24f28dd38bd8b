import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type Answer, useAnswer, useChange, useMay } from '../api/index.ts'
import { CustomerLink, counted, Failed, Loading, Nothing, useNotice } from '../shared-ui/index.ts'
import { useMerges } from './customer-merges.ts'

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
          ? 'These names probably mean the same customer. Merge them, or say that they are different customers: then they are not offered again. A merge can be undone at any time on the page of the customer.'
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
  variant: { keep, merge, because },
  mayChange,
}: {
  variant: Variant
  mayChange: boolean
}) {
  const { mergeInto, error, isPending } = useMerges()
  const dismissal = useDismissal(merge.name, keep.name)
  const failure = error ?? dismissal.error
  return (
    <Paper withBorder p="sm" component="section" aria-label={`${merge.name} and ${keep.name}`}>
      <Stack gap={6} style={{ overflowWrap: 'anywhere' }}>
        <Text size="sm">
          <CustomerLink name={merge.name} /> ({counted(merge.quotes, 'quote')}) and{' '}
          <CustomerLink name={keep.name} /> ({counted(keep.quotes, 'quote')})
        </Text>
        <Text size="xs" c="dimmed">
          {differences[because]}
        </Text>
        {mayChange && (
          <Group gap="xs">
            <Button
              size="compact-md"
              loading={isPending}
              aria-label={`Merge into ${keep.name}: ${merge.name}`}
              onClick={() => mergeInto(merge.name, keep.name)}
              style={{ maxWidth: '100%' }}
            >
              Merge into {keep.name}
            </Button>
            <Button
              size="compact-md"
              variant="default"
              loading={dismissal.isPending}
              aria-label={`${merge.name} and ${keep.name} are different customers`}
              onClick={dismissal.dismiss}
            >
              Different customers
            </Button>
          </Group>
        )}
        {failure !== null && <Failed error={failure} title="Nothing was changed" />}
      </Stack>
    </Paper>
  )
}

/** Dismisses a pair, with an undo in the notice. */
function useDismissal(name: string, other: string) {
  const dismiss = useChange('dismiss-customer-variant')
  const offer = useChange('offer-customer-variant')
  const queries = useQueryClient()
  const notify = useNotice()
  const again = () => void queries.invalidateQueries({ queryKey: ['list-customer-variants'] })
  // As a promise: the pair is no longer shown, and the callbacks of `mutate` are not called.
  const undo = () =>
    void offer
      .mutateAsync({ query: { name, other } })
      .then(again, (error: Error) => notify(`Not undone: ${error.message}`, { failed: true }))
  return {
    dismiss: () =>
      dismiss.mutate(
        { body: { name, other } },
        {
          onSuccess: () => {
            notify(`${name} and ${other} stay two customers.`, { action: { label: 'Undo', run: undo } })
            again()
          },
        },
      ),
    error: dismiss.error,
    isPending: dismiss.isPending,
  }
}
