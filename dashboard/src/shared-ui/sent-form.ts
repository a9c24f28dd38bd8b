import { type UseMutationResult, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { CallFailed } from '../api/index.ts'
import { useNotice } from './notices.tsx'

/** The props of the input of a value. Its `onChange` takes the value or the event of an input. */
export interface FormInput<Value> {
  readonly value: Value
  readonly error: string | undefined
  readonly onChange: (given: Value | { readonly currentTarget: { readonly value: Value } }) => void
}

/** The errors of values, by field. */
type Errors = Readonly<Record<string, string | undefined>>

/**
 * A form that one call sends. The values are named as the fields of the body, so that each error of the answer stands at its field until the
 * value changes. `failed` is an error that no field shows.
 *
 * @param options.check the errors that need no call; nothing is sent while there are any
 * @param options.saved the notice of success, after which all pages ask for their data again
 * @param options.clears the values that are initial again after success
 * @example
 * const { input, submit } = useSentForm(useChange('change-me'), { initial: { phone: '' }, sent: (body) => ({ body }), saved: 'Phone saved' })
 * // <form onSubmit={submit}><TextInput label="Phone" {...input('phone')} /></form>
 */
export function useSentForm<Values extends object, Sent, Made>(
  call: UseMutationResult<Made, CallFailed, Sent>,
  options: {
    readonly initial: Values
    readonly sent: (values: Values) => Sent
    readonly check?: (values: Values) => Errors
    readonly saved?: string | ((values: Values, made: Made) => string)
    readonly clears?: readonly (keyof Values)[]
    readonly onSuccess?: (made: Made) => void
  },
) {
  const { initial, sent, check, saved, clears = [], onSuccess } = options
  const [values, setValues] = useState(initial)
  const [errors, setErrors] = useState<Errors>({})
  const queries = useQueryClient()
  const notify = useNotice()
  const set = <Field extends keyof Values & string>(field: Field, value: Values[Field]) => {
    setValues((all) => ({ ...all, [field]: value }))
    setErrors((all) => ({ ...all, [field]: undefined }))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const wrong = check?.(values) ?? {}
    setErrors(wrong)
    if (Object.keys(wrong).length > 0) return
    call.mutate(sent(values), {
      onError: (error) => setErrors(errorsByField(error, values)),
      onSuccess: (made) => {
        if (saved !== undefined) {
          notify(typeof saved === 'string' ? saved : saved(values, made))
          void queries.invalidateQueries()
        }
        const cleared = Object.fromEntries(clears.map((field) => [field, initial[field]]))
        setValues((all) => ({ ...all, ...cleared }))
        onSuccess?.(made)
      },
    })
  }
  const input = <Field extends keyof Values & string>(field: Field): FormInput<Values[Field]> => ({
    value: values[field],
    error: errors[field],
    onChange: (given) => set(field, isEvent<Values[Field]>(given) ? given.currentTarget.value : given),
  })
  const isAtFields =
    call.error?.errors.every(
      ({ pointer, parameter }) => fieldAt(pointer ?? parameter, values) !== undefined,
    ) === true && call.error.errors.length > 0
  return { values, set, input, submit, isPending: call.isPending, failed: isAtFields ? null : call.error }
}

function isEvent<Value>(given: unknown): given is { readonly currentTarget: { readonly value: Value } } {
  return typeof given === 'object' && given !== null && 'currentTarget' in given
}

/** The value that a pointer is about. @example fieldAt('/floors/margin', { margin: '' }) // 'margin' */
function fieldAt(pointer: string | undefined, values: object): string | undefined {
  return pointer?.split('/').find((step) => Object.hasOwn(values, step))
}

/** The first error of each field, without the API name of the field, because it has a label. */
function errorsByField(error: CallFailed, values: object): Errors {
  const found = error.errors.toReversed().flatMap(({ pointer, parameter = '' }) => {
    const place = pointer ?? parameter
    const field = fieldAt(place, values)
    return field === undefined ? [] : [[field, error.fieldError(place)?.replace(`${field}: `, '')]]
  })
  return Object.fromEntries(found)
}
