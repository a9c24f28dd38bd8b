import { useState } from 'react'

const keptAs = 'lanewise-shortcuts'

function readIsOn(): boolean {
  try {
    return localStorage.getItem(keptAs) !== 'off'
  } catch {
    return true
  }
}

/** Whether single-letter shortcuts are on. They can be turned off, for example for speech input (WCAG 2.1.4). */
export function useShortcutsSwitch(): readonly [isOn: boolean, switchTo: (isOn: boolean) => void] {
  const [isOn, setIsOn] = useState(readIsOn)
  return [
    isOn,
    (next) => {
      setIsOn(next)
      try {
        localStorage.setItem(keptAs, next ? 'on' : 'off')
      } catch {
        // Without browser storage, the setting lasts until the page is closed.
      }
    },
  ]
}
