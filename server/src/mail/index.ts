/**
 * Mail: an outbox in the database, sent over SMTP after the commit, each message once over all instances, and retried.
 */
export { mailAnswer, mailApprovers } from './approval-mails.ts'
export { mailSender } from './mail-sender.ts'
export { sealMailServer } from './mail-servers.ts'
export { hasMailServer, queueMails } from './queue-mails.ts'
export { addressesOf, connectionFaults, mailUrl, oneLine, shortened } from './smtp.ts'
