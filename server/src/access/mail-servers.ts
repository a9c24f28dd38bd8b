/** The associated data of the sealed access to a brokerage's mail server: in another row, it cannot be decrypted. */
export function mailServerPlace(tenant: number, secretId: number): string {
  return `mail server ${tenant}/${secretId}`
}

/** The associated data of the sealed access to a brokerage's mailbox. */
export function mailboxPlace(tenant: number, secretId: number): string {
  return `mailbox ${tenant}/${secretId}`
}
