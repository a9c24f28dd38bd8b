/**
 * Receiving: reads the mailboxes of brokerages over IMAP, and takes mails over SMTP, each mail once, and stores what it says.
 */
export { mailAddress, newAddressSecret } from './mail-addresses.ts'
export { listenForMail, type MailListener } from './mail-listener.ts'
export { mailboxReader } from './mailbox-reader.ts'
export { readReceived } from './read-received.ts'
export { sealMailbox } from './sealed-mailbox.ts'
