import { labelLengthMax } from '#contract/limits.ts'
import { useAnswer } from '../api/index.ts'
import { counted, equipmentName } from './formats.ts'
import { readEquipment } from './read-equipment.ts'
import {
  type FieldProps,
  type Option,
  suggestionsOf,
  TypeAhead,
  typedOption,
  useAsking,
} from './type-ahead.tsx'

const suggestionsMax = 8

/** The query for suggestions. Text longer than any name is cut to the maximum length. */
function suggestionQuery(text: string) {
  return { query: { q: [...text].slice(0, labelLengthMax).join(''), limit: suggestionsMax } }
}

/**
 * True when a text has the service's format of a place, so that no lookup is needed.
 *
 * @example isPlace('Dallas, TX') // true
 * @example isPlace('DALLAS, tx') // false
 */
function isPlace(text: string): boolean {
  const city = text.split(',', 1)[0] ?? ''
  return /^\p{Lu}[^,]*, [A-Z]{2,3}( \d{5}(-\d{4})?)?$/u.test(text) && /\p{Ll}/u.test(city)
}

/** The places that a text may mean. Without `isAsked`, none are requested. */
export function usePlaceSuggestions(asked: string, isAsked: boolean) {
  const places = useAnswer('suggest-places', suggestionQuery(asked), {
    enabled: isAsked,
    keeps: true,
    staleMs: 300_000,
  })
  return suggestionsOf(places, (data) => {
    const { reads_as: named, as_typed: village } = data
    const known = [
      ...new Set([...(named === null ? [] : [named]), ...data.places.map(({ place }) => place)]),
    ].map((place): Option => ({ value: place }))
    return {
      options: village === null ? known : [...known, typedOption(village)],
      taken: known[0]?.value ?? village,
    }
  })
}

/** A pickup or delivery place. The service resolves the text to a known place. An unknown place can stay as typed. */
export function PlaceInput(props: FieldProps) {
  const asking = useAsking(props.value)
  return (
    <TypeAhead
      placeholder="City, ST"
      {...props}
      asking={asking}
      isComplete={isPlace}
      emptyText="No matching place. Enter the place as City, ST."
      suggestions={usePlaceSuggestions(asking.asked, asking.isEntered)}
    />
  )
}

/**
 * A customer's name. Earlier names are suggested, and a known one is the default, so that one customer is not quoted under two
 * spellings.
 *
 * @param mayBeNew true in a quote, where another name is a new customer. Leaving the field never creates one. Names with the text
 *   only within a word are suggested, but are not the default: a new "Ace" is not Palace Foods
 */
export function CustomerInput({ mayBeNew = false, ...props }: FieldProps & { mayBeNew?: boolean }) {
  const asking = useAsking(props.value)
  const customers = useAnswer('suggest-customers', suggestionQuery(asking.asked), {
    enabled: asking.isEntered,
    keeps: true,
    staleMs: 60_000,
  })
  const typed = props.value.trim()
  return (
    <TypeAhead
      {...props}
      acceptsOnLeave={mayBeNew}
      asking={asking}
      suggestions={suggestionsOf(customers, (data) => {
        const known = data.customers.map(
          ({ name, quotes }): Option => ({
            value: name,
            label: (
              <span>
                {name} <small>({counted(quotes, 'quote')})</small>
              </span>
            ),
          }),
        )
        const same = known.find(({ value }) => value.toLowerCase() === typed.toLowerCase())
        if (typed === '' || same !== undefined) return { options: known, taken: same?.value ?? null }
        const fitting = known.find(({ value }) => !mayBeNew || hasWordBeginning(value, typed))
        const other = typedOption(typed)
        return {
          options: [...known, mayBeNew ? { ...other, label: `New customer “${typed}”` } : other],
          taken: fitting?.value ?? typed,
        }
      })}
    />
  )
}

/** @example hasWordBeginning('Foxlathe Dairy', 'dai') // true */
function hasWordBeginning(name: string, text: string): boolean {
  return ` ${name.toLowerCase()}`.includes(` ${text.toLowerCase()}`)
}

export const commonEquipment = ['V', 'R', 'F', 'SD', 'PO', 'HS', 'CON']

/** An equipment code. Common codes are suggested, and any other code can stay as typed. */
export function EquipmentInput(props: FieldProps) {
  const { isEntered, enter } = useAsking(props.value)
  const typed = props.value.trim()
  const read = readEquipment(typed)
  const known = commonEquipment.map((code): Option => ({ value: code, label: equipmentName(code) }))
  const same = known.find(({ value }) => value === read.toUpperCase())
  return (
    <TypeAhead
      {...props}
      asking={{ asked: typed, isEntered, enter, hurry: () => {} }}
      suggestions={{
        state: 'current',
        options: typed === '' || same !== undefined ? known : [typedOption(typed), ...known],
        taken: typed === '' ? null : (same?.value ?? typed),
        failures: 0,
        retry: () => {},
      }}
    />
  )
}
