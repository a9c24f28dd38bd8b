/** The associated data of the sealed secret of company sign-in: in another row, it cannot be decrypted. */
export function companySignInPlace(tenant: number, secretId: number): string {
  return `company sign-in ${tenant}/${secretId}`
}
