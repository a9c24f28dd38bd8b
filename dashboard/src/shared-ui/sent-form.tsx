import { useForm } from '@mantine/form'
import { type UseMutationResult, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { CallFailed } from '../api/index.ts'
import { useNotice } from './notices.tsx'
import { Failed } from './states.tsx'

interface SentForm<Fields, Sent, Answered> {
  /** The values at the beginning. Fields are named like those of the service, so that its errors are shown at them. */
  readonly fields: Fields
  /** Where the service names a field otherwise than `/name`. A pattern: a list, whose entries have errors, too. */
  readonly pointers?: { readonly [Field in keyof Fields]?: string | RegExp }
  /** What is wrong before it is sent, by field. */
  readonly validate?: (fields: Fields) => { readonly [Field in keyof Fields]?: string }
  /** What is sent; null: nothing has to be sent, and `done` is called. */
  readonly send: (fields: Fields) => Sent | null
  /** What is said after it. Then everything is read again. A function: it names what was entered. */
  readonly said?: string | ((fields: Fields) => string)
  readonly done?: (answered: Answered | null) => void
  /** Called after a refusal, too: it closes a question, or reads what somebody else changed meanwhile. */
  readonly settled?: () => void
}

/**
 * A form whose fields are sent to the service. An error of a field is shown at the field until it changes; `failure` shows others.
 *
 * @example const { submit, input, pending, failure } = useSentForm(useChange('invite-user'), { fields: { name: '' }, send: (body) => ({ body }) })
 */
export function useSentForm<Fields extends Record<string, unknown>, Sent, Answered>(
  sending: UseMutationResult<Answered, CallFailed, Sent>,
  { fields, pointers = {}, validate, send, said, done, settled }: SentForm<Fields, Sent, Answered>,
) {
  const form = useForm<Fields>({ initialValues: fields, ...(validate === undefined ? {} : { validate }) })
  const queries = useQueryClient()
  const notify = useNotice()
  const errorsOf = (error: CallFailed) =>
    Object.fromEntries(
      Object.keys(fields).flatMap((field) => {
        const at = pointers[field] ?? `/${field}`
        const detail =
          typeof at === 'string'
            ? error.fieldError(at)
            : error.errors.find(({ pointer = '' }) => at.test(pointer))?.detail
        return detail === undefined ? [] : [[field, detail]]
      }),
    )
  const submit = form.onSubmit((values) => {
    form.clearErrors()
    const sent = send(values as Fields)
    if (sent === null) return done?.(null)
    // Callbacks of `mutate` are not called if the form is gone by then, and a page that reads again may replace it.
    sending
      .mutateAsync(sent)
      .then(
        (answered) => {
          done?.(answered)
          if (said === undefined) return
          notify(typeof said === 'string' ? said : said(values as Fields))
          void queries.invalidateQueries()
        },
        (error: CallFailed) => form.setErrors(errorsOf(error)),
      )
      .finally(settled)
  })
  const { error } = sending
  const isShown = error !== null && Object.keys(errorsOf(error)).length > 0
  return {
    form,
    submit,
    input: form.getInputProps,
    pending: sending.isPending,
    failure: (title: string): ReactNode =>
      error === null || isShown ? null : <Failed error={error} title={title} />,
  }
}
