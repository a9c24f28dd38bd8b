/**
 * The configuration, read once at start from environment variables, and the keys of secrets and tokens.
 */
export { type Config, ConfigError, readConfig, samplers } from './config.ts'
export { keyFileFault, makeSecretKey, moveKeyOf, secretKeysOf } from './secret-key-file.ts'
export { installationTokens, tokenKeysOf } from './token-keys.ts'
