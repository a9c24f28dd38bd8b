/** The associated data of a sealed key for a provider of market rates: in another row, it cannot be decrypted. */
export function marketKeyPlace(tenant: number, secretId: number): string {
  return `market key ${tenant}/${secretId}`
}
