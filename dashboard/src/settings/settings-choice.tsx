import { NativeSelect } from '@mantine/core'

/** A setting with a few values, each in words. */
export function SettingChoice<Value extends string>({
  value,
  choices,
  onChange,
  ...select
}: {
  label: string
  description?: string
  value: Value
  /** The words of each value, in the order of the list. */
  choices: Readonly<Record<Value, string>>
  onChange: (value: Value) => void
  disabled: boolean
  error: string | undefined
}) {
  const data = (Object.keys(choices) as Value[]).map((one) => ({ value: one, label: choices[one] }))
  return (
    <NativeSelect
      value={value}
      data={data}
      onChange={(event) => onChange(event.currentTarget.value as Value)}
      {...select}
    />
  )
}
