import { Button, Group, Stack, Switch, TextInput } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { FormEvent, ReactNode } from 'react'
import type { CallFailed } from '../api/index.ts'
import { type Column, counted, DataTable, Failed, type FormInput, Loading } from '../shared-ui/index.ts'

/** A form that creates a token or secret with a name. */
export function CreateCredential({
  what,
  placeholder,
  form: { input, submit, isPending, failed },
  failure,
  children,
}: {
  /** `token` or `secret`. */
  what: string
  placeholder?: string
  form: {
    readonly input: (field: 'name') => FormInput<string>
    readonly submit: (event: FormEvent) => void
    readonly isPending: boolean
    readonly failed: CallFailed | null
  }
  /** Renders an error that is not about a field. */
  failure: (error: CallFailed) => ReactNode
  /** Further inputs, below the name. */
  children?: ReactNode
}) {
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Group align="flex-end" gap="sm">
          <TextInput
            label={`Name of the new ${what}`}
            {...(placeholder === undefined ? {} : { placeholder })}
            autoComplete="off"
            w={{ base: '100%', xs: 320 }}
            required
            withAsterisk={false}
            {...input('name')}
          />
          <Button type="submit" loading={isPending}>
            Create {what}
          </Button>
        </Group>
        {children}
        {failed && failure(failed)}
      </Stack>
    </form>
  )
}

/** The live tokens or secrets of a brokerage. A switch also shows the expired and revoked ones. */
export function CredentialList<Credential extends { readonly id: number }, Listed>({
  what,
  caption,
  columns,
  answer,
  of,
  isLive,
  none,
  ended,
  setEnded,
}: {
  /** `token` or `secret`. */
  what: string
  caption: string
  columns: readonly Column<Credential>[]
  answer: UseQueryResult<Listed, CallFailed>
  of: (answer: Listed) => readonly Credential[]
  isLive: (credential: Credential) => boolean
  none: ReactNode
  ended: boolean
  setEnded: (shown: boolean) => void
}) {
  if (answer.data === undefined) {
    return answer.error === null ? (
      <Loading label={`Loading the ${what}s`} rows={4} />
    ) : (
      <Failed
        error={answer.error}
        retry={() => void answer.refetch()}
        title={`The ${what}s could not be loaded`}
      />
    )
  }
  const all = of(answer.data)
  if (all.length === 0) return none
  const live = all.filter(isLive)
  const endedCount = all.length - live.length
  const everyOne = ended || live.length === 0
  return (
    <Stack gap="xs">
      <DataTable
        caption={caption}
        columns={columns}
        rows={everyOne ? all : live}
        rowKey={({ id }) => String(id)}
      />
      {endedCount > 0 && live.length > 0 && (
        <Switch
          label={`Show ${counted(endedCount, what)} no longer valid`}
          checked={everyOne}
          onChange={(event) => setEnded(event.currentTarget.checked)}
        />
      )}
    </Stack>
  )
}
