import { Button, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { customerKey } from '#engine/customer-name.ts'
import { useChange, useMay } from '../api/index.ts'
import { CustomerInput, day, Failed, Section, useAddress, useNotice } from '../shared-ui/index.ts'
import { useMerges } from './customer-merges.ts'
import type { CustomerRecord } from './customer-record.ts'

/** The names that count for a customer. Admins can rename it, merge it into another one, and undo merges. */
export function CustomerNames({ customer }: { customer: CustomerRecord }) {
  const mayChange = useMay('admin')
  return (
    <Section
      title="Names"
      hint="Quotes keep the name that they have. Quotes with any of these names count for this customer."
    >
      <Aliases customer={customer} mayChange={mayChange} />
      {mayChange && (
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          <RenameForm customer={customer} />
          <MergeForm customer={customer} />
        </SimpleGrid>
      )}
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
  const { takeBack, isPending } = useMerges()
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
                onClick={() => takeBack(alias.name)}
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

/** Opens the page of a customer in place of this one, whose name is no longer its own. */
function useOpen() {
  const { change } = useAddress(pagePaths.customers)
  return (name: string) => change({ name }, { replace: true })
}

function RenameForm({ customer: { name, aliases } }: { customer: CustomerRecord }) {
  const [typed, setTyped] = useState('')
  const rename = useChange('rename-customer')
  const { takeBack } = useMerges()
  const queries = useQueryClient()
  const notify = useNotice()
  const open = useOpen()
  const done = (next: string) => {
    void queries.invalidateQueries()
    open(next)
  }
  const renameBack = (from: string, to: string) =>
    void rename.mutateAsync({ body: { name: from, new_name: to } }).then(
      (restored) => done(restored.name),
      (error: Error) => notify(`Not undone: ${error.message}`, { failed: true }),
    )
  // A new spelling of the same name made no alias that could be unmerged, and an alias was merged before.
  const ownNames = new Set([name, ...aliases.map((alias) => alias.name)].map(customerKey))
  const undo = (after: string) =>
    ownNames.has(customerKey(after)) ? renameBack(after, name) : takeBack(name, () => open(name))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    rename.mutate(
      { body: { name, new_name: typed.trim() } },
      {
        onSuccess: (after) => {
          notify(`${name} is renamed to ${after.name}.`, {
            action: { label: 'Undo', run: () => undo(after.name) },
          })
          done(after.name)
        },
      },
    )
  }
  const wrong = rename.error?.fieldError('/new_name')
  return (
    <form onSubmit={submit} aria-label="Rename">
      <Group align="flex-start" gap="xs" wrap="nowrap">
        <TextInput
          label="New name"
          style={{ flexGrow: 1 }}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          error={wrong}
          autoComplete="off"
        />
        <Button type="submit" variant="default" mt={25} loading={rename.isPending}>
          Rename
        </Button>
      </Group>
      {rename.error !== null && wrong === undefined && <Failed error={rename.error} title="Not renamed" />}
    </form>
  )
}

function MergeForm({ customer: { name } }: { customer: CustomerRecord }) {
  const [into, setInto] = useState('')
  const { mergeInto, error, isPending } = useMerges()
  const open = useOpen()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mergeInto(name, into.trim(), { onDone: open, onUndone: () => open(name) })
  }
  const wrong = error?.fieldError('/into') ?? error?.fieldError('/from')
  return (
    <form onSubmit={submit} aria-label="Merge">
      <Group align="flex-start" gap="xs" wrap="nowrap">
        <div style={{ flexGrow: 1 }}>
          <CustomerInput label="Merge into the customer" value={into} onChange={setInto} error={wrong} />
        </div>
        <Button type="submit" variant="default" mt={25} loading={isPending}>
          Merge
        </Button>
      </Group>
      {error !== null && wrong === undefined && <Failed error={error} title="Not merged" />}
    </form>
  )
}
