import { Button, Group, Modal, NumberInput, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { secretOverlapHoursDefault, secretOverlapHoursMax } from '#contract/limits.ts'
import { type Answer, useChange } from '../api/index.ts'
import { moment } from '../shared-ui/index.ts'
import { type Secret, SecretNotMade } from './integration-secret-limit.tsx'

/** Rotates a secret: creates a new one, and keeps the old one valid for an overlap of the chosen hours. */
export function RotateSecret({
  secret,
  secrets,
  close,
  rotated,
}: {
  secret: Secret
  secrets: readonly Secret[]
  close: () => void
  rotated: (answer: Answer<'rotate-signing-secret'>, note: string) => void
}) {
  const [hours, setHours] = useState<number | string>(secretOverlapHoursDefault)
  const rotate = useChange('rotate-signing-secret')
  const isRight =
    typeof hours === 'number' && Number.isInteger(hours) && hours >= 0 && hours <= secretOverlapHoursMax
  const submit = () => {
    if (!isRight) return
    rotate.mutate(
      { params: { id: secret.id }, body: { overlap_hours: hours } },
      {
        onSuccess: (answer) => {
          rotated(answer, overlapOf(secret, hours))
          rotate.reset()
        },
      },
    )
  }
  return (
    <Modal
      opened
      onClose={close}
      title={`Rotate the secret ${secret.name}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <Stack gap="md">
          <Text size="sm">
            This creates a new secret with the same name. The old secret (ID {secret.id}) stays valid during
            the overlap, so that no booking is rejected while you change the secret in the TMS.
          </Text>
          <NumberInput
            label="Overlap in hours"
            description={`0 to ${secretOverlapHoursMax}; default ${secretOverlapHoursDefault}`}
            min={0}
            max={secretOverlapHoursMax}
            allowDecimal={false}
            clampBehavior="none"
            value={hours}
            onChange={setHours}
            error={isRight ? undefined : `Enter a whole number from 0 to ${secretOverlapHoursMax}.`}
            hideControls
            data-autofocus
          />
          <Text size="sm" aria-live="polite">
            {isRight ? overlapOf(secret, hours) : ' '}
          </Text>
          {rotate.error !== null && (
            <SecretNotMade error={rotate.error} name={secret.name} secrets={secrets} />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={rotate.isPending} disabled={!isRight}>
              Rotate secret
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

/** The end of the overlap, in a sentence. Rotation never extends an overlap that is already running. */
function overlapOf(secret: Secret, hours: number): string {
  const asked = Date.now() + hours * 3_600_000
  const running = secret.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(secret.expires_at)
  if (running < asked) {
    return `Both secrets are valid until ${moment(running)}, when the current overlap ends. After that, only the new secret is valid.`
  }
  return hours === 0
    ? 'The old secret becomes invalid at once. Install the new secret in the TMS before the next booking.'
    : `Both secrets are valid until ${moment(asked)}. After that, only the new secret is valid.`
}
