import { UnstyledButton } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { useAnswer } from '../api/index.ts'
import { PlaceInput } from '../shared-ui/index.ts'
import { type DeskError, hasState } from './desk-draft.ts'

const offeredMax = 8
const suggestedMax = 3

/** The pickup or delivery place of a quote. A text that is no known place gets suggestions below the field. */
export function PlaceField({
  label,
  value,
  error,
  problem,
  isUnknown,
  onChange,
  ...more
}: {
  label: string
  value: string
  error: string | undefined
  problem: DeskError | undefined
  isUnknown: boolean
  className: string
  'data-field': string
  onChange: (text: string) => void
}) {
  const [isDone, setDone] = useState(false)
  const typed = value.trim()
  const incomplete = isDone && typed !== '' && !hasState(typed)
  const offered = useAnswer(
    'suggest-places',
    { query: { q: typed, limit: offeredMax } },
    { enabled: incomplete || isUnknown, staleMs: 300_000 },
  )
  const readsAs = incomplete ? (offered.data?.reads_as ?? null) : null
  useEffect(() => {
    // The service read the text as a known place, for example 75201, DFW or "Dallas TX".
    if (readsAs !== null) onChange(readsAs)
  })
  const near = (offered.data?.places ?? []).map(({ place }) => place).slice(0, suggestedMax)
  const shown = notice()
  function notice(): { text: string; suggestions: readonly string[] } | null {
    if (problem !== undefined) return { text: error ?? problem.text, suggestions: problem.suggestions }
    if (incomplete) return { text: near.length > 0 ? 'Which one?' : 'Add the state', suggestions: near }
    if (isUnknown) {
      return {
        text: near.length > 0 ? 'Unknown place. Did you mean' : 'Unknown place.',
        suggestions: near,
      }
    }
    return null
  }
  return (
    <PlaceInput
      {...more}
      label={label}
      openOnFocus={false}
      value={value}
      error={shown === null ? undefined : <Suggested {...shown} onUse={onChange} />}
      onChange={(text) => {
        setDone(false)
        onChange(text)
      }}
      onFocus={() => setDone(false)}
      onDone={() => setDone(true)}
    />
  )
}

/**
 * A text with suggestions, each a button that uses it. They appear while the person types on, so they take no Tab stop: the list
 * of the field has the same suggestions for the keyboard.
 */
export function Suggested({
  text,
  suggestions,
  onUse,
}: {
  text: string
  suggestions: readonly string[]
  onUse: (place: string) => void
}): ReactNode {
  return (
    <>
      {text}{' '}
      {suggestions.map((place) => (
        <UnstyledButton key={place} className="desk-suggestion" tabIndex={-1} onClick={() => onUse(place)}>
          {place}
        </UnstyledButton>
      ))}
    </>
  )
}
