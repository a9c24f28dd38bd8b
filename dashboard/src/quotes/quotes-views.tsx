import { IconBookmark, IconCheck, IconChevronDown } from 'virtual:tabler-icons'
import { Button, Group, Menu, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { labelLengthMax } from '#contract/limits.ts'
import type { QuoteListSettings, QuoteView } from '#contract/quote-list-settings.ts'
import { type CallFailed, useAnswer } from '../api/index.ts'
import { ConfirmDialog, count, Failed, Heed, useSentForm } from '../shared-ui/index.ts'
import { type QuotesPlace, savedQuery, unknownFilters, viewOfQuery } from './quotes-address.ts'
import { allQuotes, isBuiltIn, isSameName, pendingTooLong, type QuotesSettings } from './quotes-settings.ts'

/** The view that the address names, and whether its filters or order were changed since. */
export function activeView({ view }: QuotesPlace, { views }: QuotesSettings) {
  const named = views.find(({ name }) => isSameName(name, view.view ?? allQuotes))
  const isChanged = named !== undefined && savedQuery(viewOfQuery(named.query)) !== savedQuery(view)
  // All quotes, or one's own, with a filter are an unnamed view instead of a changed one.
  const isUnnamed =
    named === undefined || (isChanged && named.name !== pendingTooLong && isBuiltIn(named.name))
  return isUnnamed ? { view: null, isChanged: false } : { view: named, isChanged }
}

/** Opens the person's default view at the plain address of the page. Returns false until that view is known. */
export function useDefaultView(
  place: QuotesPlace,
  { defaultView, views, isLoading }: QuotesSettings,
): boolean {
  const [isOpening, setIsOpening] = useState(place.isPlain)
  useEffect(() => {
    if (!isOpening || isLoading) return
    setIsOpening(false)
    const chosen = views.find(({ name }) => isSameName(name, defaultView))
    if (place.isPlain && chosen !== undefined && chosen.name !== allQuotes) {
      place.open(chosen.name, chosen.query, true)
    }
  }, [isOpening, isLoading, defaultView, views, place])
  return !isOpening
}

type Editing = 'new' | 'rename' | 'delete' | null

/** The menu of views: open, save, rename, delete, and choose the default. */
export function ViewsMenu({ place, settings }: { place: QuotesPlace; settings: QuotesSettings }) {
  const [editing, setEditing] = useState<Editing>(null)
  const { saveOrNotify, isSaving, defaultView } = settings
  const { view: active, isChanged } = activeView(place, settings)
  const isOwn = active !== null && !isBuiltIn(active.name)
  const label = active === null ? 'Filtered' : isChanged ? `${active.name} (changed)` : active.name
  const saveChanges = () =>
    void saveOrNotify((now) =>
      active?.name === pendingTooLong
        ? { pending_days: Number(place.view.pending_days) }
        : {
            views: now.views.map((one) =>
              active !== null && isSameName(one.name, active.name)
                ? { ...one, query: savedQuery(place.view) }
                : one,
            ),
          },
    )
  const maySaveChanges =
    isChanged && (isOwn || (place.view.pending_days !== undefined && /^\d+$/.test(place.view.pending_days)))
  return (
    <>
      <Menu position="bottom-end" width={270}>
        <Menu.Target>
          <Button
            size="xs"
            variant="default"
            maw={140}
            loading={isSaving}
            leftSection={<IconBookmark size={14} aria-hidden />}
            rightSection={<IconChevronDown size={14} aria-hidden />}
            aria-label={`View: ${label}`}
          >
            {label}
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah="70vh" style={{ overflowY: 'auto' }}>
          <ViewItems place={place} settings={settings} active={active} />
          <Menu.Divider />
          {maySaveChanges && <Menu.Item onClick={saveChanges}>Save changes to this view</Menu.Item>}
          <Menu.Item onClick={() => setEditing('new')}>Save as a new view</Menu.Item>
          {active !== null && !isSameName(active.name, defaultView) && (
            <Menu.Item onClick={() => void saveOrNotify(() => ({ default_view: active.name }))}>
              Open Quotes with this view
            </Menu.Item>
          )}
          {isOwn && (
            <>
              <Menu.Item onClick={() => setEditing('rename')}>Rename this view</Menu.Item>
              <Menu.Item onClick={() => setEditing('delete')}>Delete this view</Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <EditDialogs
        editing={editing}
        close={() => setEditing(null)}
        active={active}
        place={place}
        settings={settings}
      />
    </>
  )
}

/** One entry per view, which opens it. */
function ViewItems({
  place,
  settings: { views, defaultView },
  active,
}: {
  place: QuotesPlace
  settings: QuotesSettings
  active: QuoteView | null
}) {
  return (
    <>
      {views.map(({ name, query }) => (
        <Menu.Item
          key={name}
          aria-current={name === active?.name ? true : undefined}
          leftSection={
            name === active?.name ? <IconCheck size={14} aria-hidden /> : <span className="quotes-no-icon" />
          }
          rightSection={
            isSameName(name, defaultView) ? (
              <Text size="xs" c="dimmed">
                Default
              </Text>
            ) : null
          }
          style={{ overflowWrap: 'anywhere' }}
          onClick={() => place.open(name, query)}
        >
          {name}
        </Menu.Item>
      ))}
    </>
  )
}

/** The settings with a renamed view, which can be the default view. */
function renamed(now: QuoteListSettings, from: string, to: string) {
  return {
    views: now.views.map((one) => (isSameName(one.name, from) ? { ...one, name: to } : one)),
    default_view: isSameName(now.default_view, from) ? to : now.default_view,
  }
}

function EditDialogs({
  editing,
  close,
  active,
  place,
  settings: { settings, save, saveOrNotify },
}: {
  editing: Editing
  close: () => void
  active: QuoteView | null
  place: QuotesPlace
  settings: QuotesSettings
}) {
  const query = savedQuery(place.view)
  const columns = active?.columns ?? settings?.columns ?? []
  return (
    <>
      {(editing === 'new' || editing === 'rename') && (
        <NameDialog
          title={editing === 'new' ? 'Save as a new view' : 'Rename this view'}
          before={editing === 'new' ? '' : (active?.name ?? '')}
          onSave={async (name) => {
            await save((now) =>
              editing === 'rename' && active !== null
                ? renamed(now, active.name, name)
                : { views: [...now.views, { name, query, columns: [...columns] }] },
            )
            place.open(name, query, true)
          }}
          onClose={close}
        />
      )}
      <ConfirmDialog
        opened={editing === 'delete'}
        title={`Delete the view “${active?.name}”?`}
        action="Delete the view"
        close={close}
        confirm={() => {
          close()
          void saveOrNotify((now) => ({
            views: now.views.filter(({ name }) => !isSameName(name, active?.name ?? '')),
            default_view: isSameName(now.default_view, active?.name ?? '') ? allQuotes : now.default_view,
          }))
          place.open(allQuotes, '', true)
        }}
      >
        Its filters and columns are deleted. No quote changes.
      </ConfirmDialog>
    </>
  )
}

function NameDialog({
  title,
  before,
  onSave,
  onClose,
}: {
  title: string
  before: string
  onSave: (name: string) => Promise<void>
  onClose: () => void
}) {
  const save = useMutation<void, CallFailed, string>({ mutationFn: onSave })
  const { values, input, submit, failed, isPending } = useSentForm(save, {
    initial: { name: before },
    sent: ({ name }) => name.trim(),
    onSuccess: onClose,
  })
  return (
    <Modal opened onClose={onClose} title={title} size="sm" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Name"
            description="Filters, order and columns are saved with it. Only you see it."
            maxLength={labelLengthMax}
            required
            data-autofocus
            {...input('name')}
          />
          {failed && <Failed error={failed} title="Not saved" />}
          <Group>
            <Button type="submit" loading={isPending} disabled={values.name.trim() === ''}>
              Save
            </Button>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

const countedAgainMs = 60_000

/** Opens the quotes that are pending too long, with their number; nothing if there are none. */
export function PendingTooLong({ place, settings }: { place: QuotesPlace; settings: QuotesSettings }) {
  const days = settings.settings?.pending_days
  const { data } = useAnswer(
    'list-quotes',
    { query: { pending_days: days, limit: 1 } as never },
    { enabled: days !== undefined, everyMs: countedAgainMs },
  )
  const view = settings.views.find(({ name }) => name === pendingTooLong)
  if (view === undefined || (data?.total ?? 0) === 0) return null
  return (
    <Button size="xs" variant="light" onClick={() => place.open(view.name, view.query)}>
      {count(data?.total)} pending {days} days or longer
    </Button>
  )
}

/** Names the filters of the active view that the page does not have any more. */
export function UnknownFilters({ place, settings }: { place: QuotesPlace; settings: QuotesSettings }) {
  const { view } = activeView(place, settings)
  const unknown = view === null ? [] : unknownFilters(view.query)
  if (view === null || unknown.length === 0) return null
  return (
    <Heed>
      The view “{view.name}” has filters that no longer exist: {unknown.join(', ')}. The list shows its quotes
      without them.
    </Heed>
  )
}
