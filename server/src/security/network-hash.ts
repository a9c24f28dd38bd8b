import { createHmac } from 'node:crypto'
import { derivedKey, type SecretKey } from './sealed-secret.ts'

/**
 * The hash that is saved for a network from which somebody signed in. Its key is not in the database, so a reader of the database
 * can neither list the networks nor see that two people share one.
 *
 * @param who the tenant and person
 * @example networkHash(key, '1204877211 4', '192.0.2.7')
 */
export function networkHash(key: SecretKey, who: string, network: string): Buffer {
  return createHmac('sha256', derivedKey(key, 'networks of sign-ins')).update(`${who} ${network}`).digest()
}
