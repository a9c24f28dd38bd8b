import { NativeSelect } from '@mantine/core'

/** A setting with a few values, each in words. */
export function SettingChoice<Value extends string>({
  value,
  choices,
  onChange,
  isWide = false,
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
  /** Whether it fills its place. Otherwise, it is as wide as other fields. */
  isWide?: boolean
}) {
  const data = (Object.keys(choices) as Value[]).map((one) => ({ value: one, label: choices[one] }))
  return (
    <NativeSelect
      maw={isWide ? 'none' : 420}
      value={value}
      data={data}
      onChange={(event) => onChange(event.currentTarget.value as Value)}
      {...select}
    />
  )
}
