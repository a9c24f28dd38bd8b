import { useEffect, useLayoutEffect, useRef, useSyncExternalStore } from 'react'
import { lettersAreOn } from './shortcuts-switch.ts'

/** A keyboard shortcut of a page. */
export interface Shortcut {
  /** The keys as the list of shortcuts shows them. */
  readonly keys: readonly string[]
  /** Its effect, as an imperative: "Mark won". */
  readonly does: string
  /**
   * The keys that run it: a letter ("w"), a named key ("ArrowDown", "Shift+ArrowDown"), "Mod+k" (Ctrl or ⌘), or "Alt+KeyU". Without
   * keys, a component runs the shortcut, which is only listed.
   */
  readonly on?: readonly string[]
  /** Runs the shortcut. False means that it does not apply now, so that another one may run. */
  readonly run?: (event: KeyboardEvent, target: Element) => unknown
}

/** The shortcuts of a part of a page, under one title. */
interface ShortcutGroup {
  readonly title: string
  readonly shortcuts: readonly Shortcut[]
  /** True for the shortcuts of all pages. The page's own shortcuts take precedence. */
  readonly isEverywhere: boolean
}

let groups: readonly { readonly current: ShortcutGroup }[] = []
const readers = new Set<() => void>()

function replaceGroups(next: typeof groups): void {
  groups = next
  for (const read of readers) read()
}

function subscribe(read: () => void): () => void {
  readers.add(read)
  return () => readers.delete(read)
}

function inOrder(): readonly ShortcutGroup[] {
  const all = groups.map(({ current }) => current)
  return [
    ...all.filter(({ isEverywhere }) => !isEverywhere),
    ...all.filter(({ isEverywhere }) => isEverywhere),
  ]
}

/** Single keys never act here: the user types, or a dialog or menu has its own keys. */
const typingTargets =
  'input:not([type="checkbox"]), textarea, select, [contenteditable="true"], [role="dialog"], [role="menu"]'

/** The name of a pressed key, in the form of `Shortcut.on`. */
function nameOf({ key, code, shiftKey, ctrlKey, metaKey, altKey }: KeyboardEvent): string {
  // The code of the key, because Alt (Option) types another letter on a Mac.
  if (altKey) return ctrlKey || metaKey ? '' : `Alt+${code}`
  if (ctrlKey || metaKey) return `Mod+${key.toLowerCase()}`
  if (key.length === 1) return key.toLowerCase()
  return shiftKey ? `Shift+${key}` : key
}

const modalIsOpen = () => document.querySelector('[role="dialog"][aria-modal="true"]') !== null

function runShortcut(event: KeyboardEvent): void {
  const { target } = event
  if (event.defaultPrevented || !(target instanceof Element)) return
  // Also while the focus is behind a dialog, because a key that is meant for the dialog must not act on the page.
  if (target.closest('[role="dialog"], [role="menu"]') !== null || modalIsOpen()) return
  const name = nameOf(event)
  const isCombination = /^(Mod|Alt)\+/.test(name)
  if (!isCombination && target.closest(typingTargets) !== null) return
  const isCharacter = name.length === 1
  if (isCharacter && !lettersAreOn()) return
  // A held key moves through a list, but marks or opens nothing twice.
  if (event.repeat && !/Arrow|^[jk]$/.test(name)) return
  for (const { shortcuts } of inOrder()) {
    for (const { on, run } of shortcuts) {
      if (on?.includes(name) !== true || run === undefined || run(event, target) === false) continue
      event.preventDefault()
      return
    }
  }
}

/**
 * Registers the shortcuts of a page or a part of it while it is shown. They run by key, and the list of shortcuts shows
 * them under `title`. A shortcut of one character is off while the user types, in dialogs, and when letters are off.
 *
 * @example useShortcuts('Quote', [{ keys: ['W'], does: 'Mark won', on: ['w'], run: () => mark(lane, 'won') }])
 */
export function useShortcuts(
  title: string,
  shortcuts: readonly Shortcut[],
  { isEverywhere = false }: { isEverywhere?: boolean } = {},
): void {
  const group = useRef<ShortcutGroup>({ title, shortcuts, isEverywhere })
  useLayoutEffect(() => {
    group.current = { title, shortcuts, isEverywhere }
  })
  useEffect(() => {
    replaceGroups([...groups, group])
    return () => replaceGroups(groups.filter((one) => one !== group))
  }, [])
}

/** Makes the registered shortcuts run. The frame around all pages calls it once. */
export function useShortcutKeys(): void {
  useEffect(() => {
    window.addEventListener('keydown', runShortcut)
    return () => window.removeEventListener('keydown', runShortcut)
  }, [])
}

/** All current shortcuts, the page's own first. */
export function useShortcutGroups(): readonly ShortcutGroup[] {
  useSyncExternalStore(subscribe, () => groups)
  return inOrder().filter(({ shortcuts }) => shortcuts.length > 0)
}

let listIsOpen = false

/** Opens or closes the list of shortcuts. */
export function showShortcuts(isOpen: boolean): void {
  listIsOpen = isOpen
  for (const read of readers) read()
}

export function useShortcutsListIsOpen(): boolean {
  return useSyncExternalStore(subscribe, () => listIsOpen)
}
