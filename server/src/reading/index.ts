/**
 * Reads lanes from mails: the text of a mail to lanes, with the words of each value, and questions. The rules are pure functions
 * without a clock, in steps, because a long mail takes a second.
 */

export type { Words } from './found-words.ts'
export { textOfHtml } from './html-text.ts'
export { type MailRead, readMail, readMailInSteps } from './read-mail.ts'
export { readReply } from './reply-words.ts'
