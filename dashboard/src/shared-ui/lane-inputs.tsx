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

const offeredMax = 8

/** A text that is longer than any name is looked up by its beginning. */
function question(asked: string) {
  return { query: { q: [...asked].slice(0, labelLengthMax).join(''), limit: offeredMax } }
}

/**
 * Whether a text is written as the service writes places, so that nothing needs to be looked up.
 *
 * @example isPlace('Dallas, TX') // true
 * @example isPlace('DALLAS, tx') // false
 */
function isPlace(text: string): boolean {
  return /^\p{Lu}[^,]*\p{Ll}[^,]*, [A-Z]{2,3}( \d{5}(-\d{4})?)?$/u.test(text)
}

/** A pickup or delivery place. The service decides which known place a text means; a village can be kept as typed. */
export function PlaceInput(props: FieldProps) {
  const asking = useAsking(props.value)
  const places = useAnswer('suggest-places', question(asking.asked), {
    enabled: asking.isEntered,
    keeps: true,
    staleMs: 300_000,
  })
  return (
    <TypeAhead
      placeholder="City, ST"
      {...props}
      asking={asking}
      isComplete={isPlace}
      emptyText="No known place begins like this. Write it as City, ST."
      suggestions={suggestionsOf(places, (data) => {
        const { reads_as: named, as_typed: village } = data
        const known = [
          ...new Set([...(named === null ? [] : [named]), ...data.places.map(({ place }) => place)]),
        ].map((place): Option => ({ value: place }))
        return {
          options: village === null ? known : [typedOption(village), ...known],
          taken: named ?? village ?? known[0]?.value ?? null,
        }
      })}
    />
  )
}

/**
 * A customer's name. Names quoted before are suggested, so that one customer stays one.
 *
 * @param takes what Enter and Tab take where no customer has exactly the typed name: in a quote the name as typed, which
 *   is a new customer; in a filter the first customer whose name has the text in it, for a part of a name finds nothing
 */
export function CustomerInput({
  takes,
  ...props
}: FieldProps & { takes: 'name-as-typed' | 'known-customer' }) {
  const asking = useAsking(props.value)
  const customers = useAnswer('suggest-customers', question(asking.asked), {
    enabled: asking.isEntered,
    keeps: true,
    staleMs: 60_000,
  })
  const typed = props.value.trim()
  return (
    <TypeAhead
      {...props}
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
        if (takes === 'name-as-typed') return { options: [typedOption(typed), ...known], taken: typed }
        return { options: [...known, typedOption(typed)], taken: known[0]?.value ?? typed }
      })}
    />
  )
}

const commonEquipment = ['V', 'R', 'F', 'SD', 'PO', 'HS', 'CON']

/** An equipment code: the usual ones are suggested, and any other can be kept as typed. */
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
