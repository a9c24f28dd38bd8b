import { Button, Group, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { pagePaths } from '#contract/pages.ts'
import { customerKey } from '#engine/customer-name.ts'
import { useChange, useMay } from '../api/index.ts'
import {
  CustomerInput,
  day,
  Failed,
  Section,
  useAddress,
  useNotice,
  useSentForm,
} from '../shared-ui/index.ts'
import { useDecisions } from './customer-decisions.ts'
import type { CustomerRecord } from './customer-record.ts'

/** The names that count for a customer. Admins can rename the customer, which may merge it into another customer, and undo merges. */
export function CustomerNames({ customer }: { customer: CustomerRecord }) {
  const mayChange = useMay('admin')
  return (
    <Section
      title="Names"
      hint="Quotes keep the name that they have. Quotes with any of these names count for this customer."
    >
      <Aliases customer={customer} mayChange={mayChange} />
      {mayChange && <RenameForm customer={customer} />}
    </Section>
  )
}

function Aliases({
  customer: { name, aliases },
  mayChange,
}: {
  customer: CustomerRecord
  mayChange: boolean
}) {
  const { reopen, isPending } = useDecisions()
  if (aliases.length === 0) return <Text size="sm">No other name is merged into this customer.</Text>
  return (
    <Stack gap="xs" component="ul" aria-label={`Other names of ${name}`} m={0} pl="lg">
      {aliases.map((alias) => (
        <li key={alias.name}>
          <Group gap="xs">
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {alias.name}{' '}
              <Text span size="xs" c="dimmed">
                merged {day(alias.merged_at)}
                {alias.merged_by === null ? '' : ` by ${alias.merged_by}`}
              </Text>
            </Text>
            {mayChange && (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={`Unmerge ${alias.name}`}
                disabled={isPending}
                onClick={() => reopen({ name: alias.name, other: name })}
              >
                Unmerge
              </Button>
            )}
          </Group>
        </li>
      ))}
    </Stack>
  )
}

/** Renames the customer, or merges it into an existing customer with the new name. Then opens the page of that name. */
function RenameForm({ customer: { name, aliases } }: { customer: CustomerRecord }) {
  const rename = useChange('rename-customer')
  const { reopen } = useDecisions()
  const queries = useQueryClient()
  const notify = useNotice()
  const { change } = useAddress(pagePaths.customers)
  const open = (next: string) => {
    void queries.invalidateQueries()
    change({ name: next }, { replace: true })
  }
  const renameBack = (from: string) =>
    void rename.mutateAsync({ body: { name: from, new_name: name } }).then(
      (restored) => open(restored.name),
      (error: Error) => notify(`Not undone: ${error.message}`, { failed: true }),
    )
  // For these names, undo is a rename back: a new spelling of the same name adds no alias to separate, and an alias was already
  // merged before.
  const ownNames = new Set([name, ...aliases.map((alias) => alias.name)].map(customerKey))
  const undo = (after: string) =>
    ownNames.has(customerKey(after)) ? renameBack(after) : reopen({ name, other: after }, () => open(name))
  const { input, submit, failed, isPending } = useSentForm(rename, {
    initial: { new_name: '' },
    sent: ({ new_name }) => ({ body: { name, new_name: new_name.trim() } }),
    onSuccess: (after) => {
      notify(`${name} counts for ${after.name} now.`, {
        action: { label: 'Undo', run: () => undo(after.name) },
      })
      open(after.name)
    },
  })
  return (
    <form onSubmit={submit} aria-label="Rename or merge">
      <Group align="flex-start" gap="xs" wrap="nowrap" maw={480}>
        <div style={{ flexGrow: 1 }}>
          <CustomerInput label="New name, or the customer to merge it into" {...input('new_name')} />
        </div>
        <Button type="submit" variant="default" mt={25} loading={isPending}>
          Rename
        </Button>
      </Group>
      {failed && <Failed error={failed} title="Not renamed" />}
    </form>
  )
}
