import { Button, CloseButton, Group } from '@mantine/core'
import { counted, laneName, useNotice } from '../shared-ui/index.ts'
import { type Draft, isBlank } from './desk-draft.ts'
import type { DraftActions } from './use-drafts.ts'

/** The drafts that are not saved, if there are several. */
export function DraftTabs({ drafts, open, discard, add }: DraftActions) {
  const notify = useNotice()
  if (drafts.all.length < 2) return null
  return (
    <Group gap="xs" role="group" aria-label="Drafts">
      {drafts.all.map(({ id, draft }) => {
        const name = draftName(draft)
        return (
          <Button.Group key={id}>
            <Button
              size="compact-sm"
              variant={id === drafts.openId ? 'filled' : 'default'}
              aria-pressed={id === drafts.openId}
              className="desk-draft"
              onClick={() => open(id)}
            >
              {name}
            </Button>
            <CloseButton
              size={26}
              aria-label={`Discard the draft ${name}`}
              onClick={() => {
                discard(id)
                notify(`Draft discarded: ${name}`, { action: { label: 'Undo', run: () => add(draft) } })
              }}
            />
          </Button.Group>
        )
      })}
    </Group>
  )
}

/** @example draftName({ customer: 'Acme', reference: '', lanes: [lane, lane] }) // 'Acme: Dallas, TX → Atlanta, GA and 1 more quote' */
export function draftName({ customer, lanes: quotes }: Draft): string {
  const filled = quotes.filter((quote) => !isBlank(quote))
  const [first] = filled
  const where =
    first === undefined ? '' : laneName(first.origin.trim() || '…', first.destination.trim() || '…')
  const more = filled.length > 1 ? ` and ${counted(filled.length - 1, 'more quote')}` : ''
  const name = [customer.trim(), `${where}${more}`].filter((part) => part !== '').join(': ')
  return name === '' ? 'New quote' : name
}
