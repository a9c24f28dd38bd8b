/**
 * The configuration, read once at start from environment variables, and the secret key in the data folder.
 */
export { type Config, ConfigError, readConfig, samplers } from './config.ts'
export { makeSecretKey, moveKeyOf, secretKeysOf } from './secret-key-file.ts'
