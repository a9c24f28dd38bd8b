import { useSyncExternalStore } from 'react'

const savedUnder = 'lanewise-shortcuts'

function readIsOn(): boolean {
  try {
    return localStorage.getItem(savedUnder) !== 'off'
  } catch {
    return true
  }
}

let isOn = readIsOn()
const readers = new Set<() => void>()

/** Whether single-letter shortcuts are on. They can be turned off, for example for speech input (WCAG 2.1.4). */
export function lettersAreOn(): boolean {
  return isOn
}

function switchTo(next: boolean): void {
  isOn = next
  try {
    localStorage.setItem(savedUnder, next ? 'on' : 'off')
  } catch {
    // Without browser storage, the setting lasts until the page is closed.
  }
  for (const read of readers) read()
}

function subscribe(read: () => void): () => void {
  readers.add(read)
  return () => readers.delete(read)
}

/** The switch of the single-letter shortcuts, for components that show it or the letters. */
export function useShortcutsSwitch(): readonly [isOn: boolean, switchTo: (isOn: boolean) => void] {
  return [useSyncExternalStore(subscribe, lettersAreOn), switchTo]
}
