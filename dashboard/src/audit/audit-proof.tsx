import { Stack, Text, Title } from '@mantine/core'
import { type Answer, useSession } from '../api/index.ts'
import { CodeBlock, count, zonedMoment } from '../shared-ui/index.ts'

type Newest = NonNullable<Answer<'list-audit-events'>['newest']>

/** The id of the section about verification, for links. */
export const verificationId = 'check'

/**
 * The newest event in the format of the service's log, which `npm run verify-audit -- --head FILE` reads.
 *
 * @example headLine(7, newest) // '{"tenant":7,"entry":418,"hash":"9d2f...","msg":"audit head"}'
 */
function headLine(tenant: number, { event_id, hash }: Newest): string {
  return JSON.stringify({ tenant, entry: event_id, hash, msg: 'audit head' })
}

/** Explains how to verify that the log was not changed. */
export function AuditProof({ newest }: { newest: Newest }) {
  const { tenant } = useSession()
  return (
    <Stack component="section" aria-labelledby={verificationId} gap="sm" maw={760}>
      <Title order={2} size="h4" id={verificationId} style={{ scrollMarginTop: 64 }}>
        How to verify the audit log
      </Title>
      <Text size="sm">
        The log is append-only. Each event has a hash of itself and of the previous event, so a change,
        removal or insertion breaks the chain of hashes. The operator of this service verifies all events
        with:
      </Text>
      <CodeBlock title="Verify all hashes" code="npm run verify-audit" what="the command" />
      <Text size="sm">
        Someone with full access to the database could recompute all hashes or delete the newest events.
        Therefore, save the line below from time to time in a place that they cannot access. Put the saved
        lines into a file, one per line. The second command compares the log with this file.
      </Text>
      <CodeBlock
        title={`Newest: event ${count(newest.event_id)}, ${zonedMoment(newest.at)}`}
        code={headLine(tenant.id, newest)}
        what="the line"
      />
      <CodeBlock
        title="Compare with saved lines"
        code="npm run verify-audit -- --head saved-lines.txt"
        what="the command with a file"
      />
    </Stack>
  )
}
