/** The mails that were read from the mailbox of the brokerage. */
export { ReceivedMailPage, ReceivedMailsPage } from './received-mails.tsx'
