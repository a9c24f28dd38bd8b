import { TextInput, type TextInputProps } from '@mantine/core'

/** The input of a code of an authenticator app. */
export function CodeInput({
  recovery = true,
  ...input
}: TextInputProps & {
  /** Whether a recovery code is accepted, too. */
  recovery?: boolean
}) {
  return (
    <TextInput
      label="Code of your authenticator app"
      description={recovery ? 'Six digits, or a recovery code' : 'Six digits'}
      autoComplete="one-time-code"
      data-autofocus
      required
      {...input}
    />
  )
}
