import { Button, Group, TextInput } from '@mantine/core'
import { useChange, useSession } from '../api/index.ts'
import { Failed, useSentForm } from '../shared-ui/index.ts'

/** The phone number of the signed-in person, which stands under their texts for customers. */
export function PhoneForm() {
  const { user } = useSession()
  const { input, submit, failed, isPending } = useSentForm(useChange('change-me'), {
    initial: { phone: user.phone ?? '' },
    sent: ({ phone }) => ({ body: { phone: phone.trim() } }),
    saved: 'Phone saved',
  })
  return (
    <form onSubmit={submit}>
      <Group align="flex-start" maw={420} mb="lg" wrap="nowrap">
        <TextInput
          label="Phone"
          description="Stands below your name in the text for the customer"
          // Below the input, so that the button stays beside it where the description needs two lines.
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          autoComplete="tel"
          style={{ flex: 1 }}
          {...input('phone')}
        />
        <Button type="submit" variant="default" loading={isPending} mt={24}>
          Save phone
        </Button>
      </Group>
      {failed && <Failed error={failed} title="Phone not saved" />}
    </form>
  )
}
