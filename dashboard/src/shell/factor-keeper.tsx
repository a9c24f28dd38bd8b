import { Button, Group, getDefaultZIndex, Modal, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import {
  passkeysWork,
  useAnswer,
  useChange,
  useGivePasskey,
  useSession,
  whenFactorAsked,
} from '../api/index.ts'
import { CodeInput, FactorSetup, Failed, PasskeySetup } from '../shared-ui/index.ts'

/**
 * Asks for the second factor in a dialog when an operation needs it again, and then continues. A person whose role requires one, and who
 * has none, adds it before anything else.
 */
export function FactorKeeper({ children }: { children: ReactNode }) {
  const { second_factor } = useSession()
  const [asked, setAsked] = useState<((isGiven: boolean) => void) | null>(null)
  useEffect(() => {
    whenFactorAsked(() => {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      setAsked(() => resolve)
      return promise
    })
    return () => whenFactorAsked(async () => false)
  }, [])
  if (second_factor.missing) return <Missing />
  const end = (isGiven: boolean) => {
    asked?.(isGiven)
    setAsked(null)
  }
  return (
    <>
      {children}
      {asked !== null && <GiveDialog end={end} />}
    </>
  )
}

function Missing() {
  const queries = useQueryClient()
  return (
    <Stack maw={560}>
      <Title order={1} size="h2">
        Add a second factor
      </Title>
      <Text size="sm">
        Your brokerage requires a second factor for your role: besides your password, sign-in asks for a code
        of an app on your telephone, or for a passkey.
      </Text>
      <FactorSetup onDone={() => void queries.invalidateQueries()} />
      <PasskeySetup onDone={() => void queries.invalidateQueries()} />
    </Stack>
  )
}

function GiveDialog({ end }: { end: (isGiven: boolean) => void }) {
  const [code, setCode] = useState('')
  const give = useChange('give-second-factor')
  const { data: factor } = useAnswer('get-second-factor', {})
  const passkey = useGivePasskey()
  const failure = give.error ?? passkey.error
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // The form of the page around the dialog is not submitted.
    event.stopPropagation()
    give.mutate({ body: { code } }, { onSuccess: () => end(true) })
  }
  return (
    <Modal
      opened
      zIndex={getDefaultZIndex('overlay')}
      onClose={() => end(false)}
      title="Your second factor, please"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={submit}>
        <Stack>
          <CodeInput value={code} onChange={(event) => setCode(event.currentTarget.value)} />
          {failure !== null && <Failed error={failure} title="Not continued" />}
          <Group justify="flex-end">
            {passkeysWork && factor !== undefined && factor.passkeys > 0 && (
              <Button
                variant="default"
                loading={passkey.isPending}
                onClick={() => passkey.mutate(undefined, { onSuccess: () => end(true) })}
              >
                Use a passkey
              </Button>
            )}
            <Button variant="default" onClick={() => end(false)}>
              Cancel
            </Button>
            <Button type="submit" loading={give.isPending}>
              Continue
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
