import { IconSearch } from 'virtual:tabler-icons'
import { Kbd, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { showShortcuts, useShortcutKeys, useShortcuts } from '../shared-ui/index.ts'
import { newQuote, openPalette, Palette } from './palette.tsx'
import { ShortcutsList } from './shortcuts-list.tsx'

/** The search field of the page, if it has one that is visible. */
function pageSearch(): HTMLInputElement | undefined {
  const fields = document.querySelectorAll<HTMLInputElement>('#main input[type="search"]')
  return [...fields].find((field) => field.checkVisibility())
}

/** The shortcuts of every page, the command palette, and the list of shortcuts. */
export function PageShortcuts() {
  const navigate = useNavigate()
  useShortcutKeys()
  useShortcuts(
    'Every page',
    [
      {
        keys: ['Ctrl or ⌘', 'K'],
        does: 'Search pages, actions, customers and quotes',
        on: ['Mod+k'],
        run: openPalette,
      },
      {
        keys: ['/'],
        does: 'Search',
        on: ['/'],
        run: () => {
          const field = pageSearch()
          if (field === undefined) openPalette()
          else field.select()
        },
      },
      { keys: ['N'], does: 'New quote', on: ['n'], run: () => void navigate(newQuote) },
      { keys: ['?'], does: 'Show these shortcuts', on: ['?'], run: () => showShortcuts(true) },
    ],
    { isEverywhere: true },
  )
  return (
    <>
      <Palette />
      <ShortcutsList />
    </>
  )
}

/** Opens the command palette by mouse or touch. */
export function PaletteButton() {
  return (
    <UnstyledButton className="palette-button" onClick={openPalette} aria-haspopup="dialog">
      <IconSearch size={16} aria-hidden />
      <VisuallyHidden hiddenFrom="md">Search</VisuallyHidden>
      <Text size="sm" component="span" visibleFrom="md">
        Search
      </Text>
      <Kbd size="xs" visibleFrom="md">
        Ctrl K
      </Kbd>
    </UnstyledButton>
  )
}
