import { randomUUID } from 'node:crypto'
import { receivedMails } from '#server/database/queries/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import { call, type MadeTenant } from './make.ts'
import type { TestApp } from './test-app.ts'

/** The text of a stored mail: one lane, and a city that several states have. */
export const storedText = [
  'Hi, please quote:',
  'Dallas, TX to Atlanta, GA, dry van, 42,000 lbs, pickup 12/3',
  'Dallas, TX to Portland, reefer at 34 F',
  'We would like to pay $1.',
].join('\n')

/** Stores a mail as if it were read from the mailbox of a brokerage. Returns its id. */
export async function storeMail(
  app: TestApp,
  tenant: MadeTenant,
  {
    subject,
    customer = null,
    minute = 0,
    text = storedText,
    references = [],
    from = 'dana@harvesttable.example',
    messageId = randomUUID(),
  }: {
    subject: string
    customer?: string | null
    minute?: number
    text?: string
    references?: readonly string[]
    from?: string
    messageId?: string
  },
): Promise<string> {
  const id = tenantId(tenant.id)
  const at = new Date(Date.UTC(2026, 10, 20, 12, minute))
  await app.database.inTenant(id, (transaction) =>
    receivedMails.insertReceivedMail(transaction, id, {
      digest: randomUUID(),
      mailbox_id: randomUUID(),
      uid_validity: 1,
      uid: 1,
      references,
      message_id: messageId,
      from_name: 'Dana Hill',
      from_address: from,
      subject,
      sent_at: at,
      sent_offset: null,
      received_at: at,
      bytes: 100,
      sender_check: 'passed',
      problem: null,
      attachments: [{ name: 'map.pdf', bytes: 4_000, unread: 'It is no table.' }],
      lanes_read: 2,
      questions_asked: 2,
      body: text,
      tables: text === storedText ? ['Origin\tDestination\tEquipment\nChicago, IL\tDenver, CO\tVan'] : [],
      kept_days: 30,
      customer_name: customer,
    }),
  )
  const { body } = await call(app, 'GET', '/api/received-mails?limit=200', { token: tenant.owner })
  return body.mails.find((mail: { subject: string }) => mail.subject === subject).id
}
