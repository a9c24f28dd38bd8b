import { Button, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { useAnswer, useChange, useSignIn } from '../api/index.ts'
import { Failed, Loading } from '../shared-ui/index.ts'
import { Doorstep } from './doorstep.tsx'

/** The path to open after sign-in. Rejects other sites, because anyone can craft the link to this page. */
export function pathAfter(next: string | null | undefined): string {
  return next?.startsWith('/') === true && !/^\/[/\\]/.test(next) ? next : pagePaths.desk
}

const nextIn = 'lanewise-after-company'
const typingMs = 400
/** An address that is worth a look: the service checks it. */
const wholeAddress = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/

/** Remembers the page to open when the provider has sent the browser back. Without storage, it is the desk. */
function rememberNext(next: string | undefined): void {
  try {
    if (next === undefined) sessionStorage.removeItem(nextIn)
    else sessionStorage.setItem(nextIn, next)
  } catch {
    // The browser forbids storage.
  }
}

function rememberedNext(): string | null {
  try {
    return sessionStorage.getItem(nextIn)
  } catch {
    return null
  }
}

/** A button for each brokerage whose provider signs in the typed address. Nothing for other addresses. */
export function CompanyChoice({ email, next }: { email: string; next: string | undefined }) {
  const [typed] = useDebouncedValue(email.trim(), typingMs)
  const found = useAnswer(
    'find-company',
    { body: { email: typed } },
    { enabled: wholeAddress.test(typed), staleMs: Number.POSITIVE_INFINITY },
  )
  const start = useChange('start-company-sign-in')
  const companies = wholeAddress.test(typed) ? (found.data?.companies ?? []) : []
  if (companies.length === 0) return null
  return (
    <Stack gap="xs">
      {companies.map(({ brokerage_id: id, brokerage }) => (
        <Button
          key={id}
          loading={start.isPending}
          onClick={() =>
            start.mutate(
              { body: { email: typed, brokerage_id: id } },
              {
                onSuccess: ({ address }) => {
                  rememberNext(next)
                  window.location.assign(address)
                },
              },
            )
          }
        >
          {brokerage === null ? 'Continue with your company' : `Continue with ${brokerage}`}
        </Button>
      ))}
      {companies.some(({ required }) => required) && (
        <Text size="xs" c="dimmed">
          Your company requires this sign-in. A password works only for the owner who keeps one for
          emergencies.
        </Text>
      )}
      {start.error !== null && <Failed error={start.error} title="Not signed in" />}
    </Stack>
  )
}

/** The page that the provider of a company opens: finishes the sign-in. */
export default function CompanyReturnPage() {
  const { brokerage } = useParams({ strict: false })
  const [answer] = useState(() => window.location.search.slice(1))
  const navigate = useNavigate()
  const { mutate, error } = useSignIn('finish-company-sign-in')
  useEffect(() => {
    if (answer === '') return
    // The code is used once, and stands in no history.
    window.history.replaceState(window.history.state, '', window.location.pathname)
    mutate(
      { brokerage_id: Number(brokerage), answer },
      { onSuccess: () => void navigate({ href: pathAfter(rememberedNext()), replace: true }) },
    )
  }, [mutate, navigate, brokerage, answer])
  return (
    <Doorstep title="Sign in">
      {error === null && answer !== '' ? (
        <Loading label="Signing in through your company" rows={2} />
      ) : (
        <Stack>
          {error === null ? (
            <Text size="sm">
              Your company opens this page at the end of a sign-in. Nothing was begun here.
            </Text>
          ) : (
            <Failed error={error} title="Not signed in" />
          )}
          <Button component="a" href={pagePaths.signIn}>
            Start again
          </Button>
        </Stack>
      )}
    </Doorstep>
  )
}
