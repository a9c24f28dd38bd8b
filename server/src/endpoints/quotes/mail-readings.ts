import { readTime } from '#contract/fields.ts'
import { readMail } from '#contract/mail-readings.ts'
import { people } from '../../database/queries/index.ts'
import { readMailInSteps } from '../../reading/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import { serve } from '../endpoint-call.ts'
import { readingAnswer } from './mail-reading-answer.ts'

export const mailReadingEndpoint = serve(readMail, async ({ body, caller, now }, { database }) => {
  const { tenant } = caller
  const zone = await database.inTenant(tenant, (transaction) => people.timeZoneOf(transaction, tenant))
  const { text, subject = '', from, sent_at: sentAt } = body
  const mail = {
    subject,
    text,
    tables: [],
    from: from ?? '',
    sentAt: (sentAt === undefined ? null : readTime(sentAt)) ?? now,
    sentOffset: null,
  }
  // The addresses of customers are not stored: whose mail it is stays a question.
  const knows = { zone, senders: [], ownPeople: new Set<string>() }
  const read = await yieldBetweenSteps(readMailInSteps(mail, knows))
  return readingAnswer(read, { subject, text, tables: [] }, from !== undefined)
})
