import type { RouterHistory } from '@tanstack/react-router'
import { type RefObject, useEffect, useRef } from 'react'

/** True after the person chose a page or focused an element, in the menu for example, since the browser loaded the document. */
let hasBegun = false
/** True from the person's choice of a page until a page is drawn. */
let isChosen = false

/**
 * Follows what the person does, for `usePageHeading`. Call it once, before anything is drawn: the code of pages arrives later, and the
 * person may choose another page in the menu before.
 *
 * @example followPerson(router.history)
 */
export function followPerson(history: RouterHistory): void {
  history.subscribe(({ action }) => {
    // Only the program replaces addresses: it opens the sign-in page, and writes filters.
    if (action.type === 'REPLACE') return
    hasBegun = true
    isChosen = true
  })
  const begin = () => {
    hasBegun = true
  }
  document.addEventListener('focusin', begin, { once: true })
}

/**
 * A reference for the heading of a page, which takes the focus when the page is drawn after the person chose it, or when the focus was
 * lost with an element of the page before. The page that a visit begins with leaves the focus at the top, so that Tab reaches the skip
 * link.
 *
 * @example <Title order={1} ref={usePageHeading()} tabIndex={-1}>
 */
export function usePageHeading(): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const focused = document.activeElement
    const isNowhere = focused === null || focused === document.body
    // The focus moves from the menu to the heading, but never away from a field of the page.
    const isLeft = isChosen && focused?.closest('main') == null
    isChosen = false
    if (isLeft || (isNowhere && hasBegun)) heading.current?.focus({ preventScroll: true })
  }, [])
  return heading
}

/** Focuses the first field of a page, but not on touch screens, where the on-screen keyboard would cover half the page. */
export function focusFirst(field: HTMLElement | null): void {
  if (window.matchMedia('(pointer: fine)').matches) field?.focus({ preventScroll: true })
}
