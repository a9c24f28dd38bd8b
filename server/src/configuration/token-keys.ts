import { keyName, type SecretKeys, type Tokens, tokens } from '../security/index.ts'
import type { Config } from './config.ts'

/**
 * The keys of tokens, the first of which signs. With LANEWISE_TOKEN_KEY, the secret keys still verify: they signed the tokens
 * from before it was set.
 */
export function tokenKeysOf({ tokenKeys }: Pick<Config, 'tokenKeys'>, secretKeys: SecretKeys): SecretKeys {
  if (tokenKeys === null) return secretKeys
  const names = new Set(tokenKeys.map(keyName))
  return [...tokenKeys, ...secretKeys.filter((key) => !names.has(keyName(key)))]
}

/** Signs and verifies the tokens of this installation. */
export function installationTokens(
  config: Pick<Config, 'tokenKeys' | 'oldTokensUntil'>,
  secretKeys: SecretKeys,
): Tokens {
  return tokens(tokenKeysOf(config, secretKeys), config.oldTokensUntil)
}
