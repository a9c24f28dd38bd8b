import { useEffect, useRef, useState } from 'react'

/** A function with a stable identity that calls the function of the latest render. */
export function useStable<Given extends unknown[]>(
  action: (...given: Given) => void,
): (...given: Given) => void {
  const latest = useRef(action)
  useEffect(() => {
    latest.current = action
  })
  const [stable] = useState(
    () =>
      (...given: Given) =>
        latest.current(...given),
  )
  return stable
}
