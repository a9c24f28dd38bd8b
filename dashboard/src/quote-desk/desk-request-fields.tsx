import { SimpleGrid, Text, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { labelLengthMax } from '#contract/limits.ts'
import { useAnswer } from '../api/index.ts'
import { CustomerInput, focusFirst } from '../shared-ui/index.ts'
import type { Draft } from './desk-draft.ts'
import { Suggested } from './desk-place-field.tsx'
import type { DeskSave } from './desk-save.ts'

/** As many suggestions as the customer field requests, so that both use one cached answer. */
const offeredMax = 8
const shownMax = 3

export function RequestFields({
  draft,
  onDraft,
  saving,
  paste,
}: {
  draft: Draft
  onDraft: (change: (draft: Draft) => Draft) => void
  saving: DeskSave
  /** Returns true when the pasted text contains rows of quotes. The field then ignores the paste. */
  paste: (text: string) => boolean
}) {
  const [beginsAt] = useState(draft.customer === '' ? 'customer' : `${firstWithoutRate(draft)}-rate`)
  useEffect(() => focusFirst(document.querySelector<HTMLElement>(`[data-field="${beginsAt}"]`)), [beginsAt])
  const [isDone, setDone] = useState(draft.customer !== '')
  const errorOf = (field: 'customer' | 'reference') =>
    saving.errors.find((error) => error.quoteId === null && error.field === field)?.text
  const set = (field: 'customer' | 'reference', text: string) => {
    onDraft((before) => ({ ...before, [field]: text }))
    saving.forget(null, field)
  }
  return (
    <SimpleGrid
      cols={{ base: 1, sm: 2 }}
      spacing="sm"
      onPaste={(event) => {
        if (paste(event.clipboardData.getData('text'))) event.preventDefault()
      }}
    >
      <div>
        <CustomerInput
          label="Customer"
          mayBeNew
          openOnFocus={false}
          data-field="customer"
          value={draft.customer}
          error={errorOf('customer')}
          onChange={(text) => {
            setDone(false)
            set('customer', text)
          }}
          onFocus={() => setDone(false)}
          onDone={() => setDone(true)}
        />
        {isDone && <NewCustomer name={draft.customer.trim()} onUse={(name) => set('customer', name)} />}
      </div>
      <TextInput
        label="Reference (optional)"
        data-field="reference"
        autoComplete="off"
        value={draft.reference}
        error={errorOf('reference')}
        onChange={(event) => set('reference', event.currentTarget.value)}
      />
    </SimpleGrid>
  )
}

/** The row where a draft that is opened again goes on. */
function firstWithoutRate({ lanes: quotes }: Draft): number | undefined {
  return (quotes.find(({ rate }) => rate.trim() === '') ?? quotes[0])?.id
}

/** Says that no quote has this customer yet, and offers customers with a similar name, because "harv" would become a new customer. */
function NewCustomer({ name, onUse }: { name: string; onUse: (name: string) => void }) {
  const { data } = useAnswer(
    'suggest-customers',
    { query: { q: name, limit: offeredMax } },
    { enabled: name !== '' && name.length <= labelLengthMax, staleMs: 60_000 },
  )
  const near = (data?.customers ?? []).map((customer) => customer.name)
  if (name === '' || data === undefined) return null
  if (near.some((one) => one.toLowerCase() === name.toLowerCase())) return null
  return (
    <Text size="sm" mt={4} role="status" style={{ overflowWrap: 'anywhere' }}>
      <Suggested
        text={near.length === 0 ? 'A new customer.' : 'A new customer. Did you mean'}
        suggestions={near.slice(0, shownMax)}
        onUse={onUse}
      />
    </Text>
  )
}
