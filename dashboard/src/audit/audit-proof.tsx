import { Stack, Text, Title } from '@mantine/core'
import { type Answer, useSession } from '../api/index.ts'
import { CodeBlock, count, zonedMoment } from '../shared-ui/index.ts'

type Newest = NonNullable<Answer<'list-audit-events'>['newest']>

/** Where the page says how the log is checked, for links to it. */
export const proofPlace = 'check'

/**
 * A newest event as the service itself logs it, so that `npm run verify-audit -- --head FILE` reads what an owner has
 * noted down.
 *
 * @example headLine(7, newest) // '{"tenant":7,"entry":418,"hash":"9d2f...","msg":"audit head"}'
 */
function headLine(tenant: number, { event_id, hash }: Newest): string {
  return JSON.stringify({ tenant, entry: event_id, hash, msg: 'audit head' })
}

/** How anybody finds out whether the log still says what it said. */
export function AuditProof({ newest }: { newest: Newest }) {
  const { tenant } = useSession()
  return (
    <Stack component="section" aria-labelledby={proofPlace} gap="sm" maw={760}>
      <Title order={2} size="h4" id={proofPlace} style={{ scrollMarginTop: 64 }}>
        How to check that nothing was changed
      </Title>
      <Text size="sm">
        Events are added and never changed. Each carries a hash over itself and the event before it, so
        whatever is changed, removed or put in later no longer fits. Whoever runs this service checks all
        events with:
      </Text>
      <CodeBlock title="Check every hash" code="npm run verify-audit" what="the command" />
      <Text size="sm">
        Somebody with full rights to the database could make all hashes anew, or cut off the end. So keep the
        newest one where they cannot reach it: note this line down from time to time. Noted lines go into a
        file, one below the other, and the second command holds the log against them.
      </Text>
      <CodeBlock
        title={`Newest: event ${count(newest.event_id)}, ${zonedMoment(newest.at)}`}
        code={headLine(tenant.id, newest)}
        what="the line"
      />
      <CodeBlock
        title="Check against noted lines"
        code="npm run verify-audit -- --head noted-lines.txt"
        what="the command with a file"
      />
    </Stack>
  )
}
