/**
 * Connections to PostgreSQL: which of several hosts is the primary, and a client that connects to it.
 */
export { DatabaseClient, withDatabaseClient } from './database-client.ts'
export { urlProblem, urlsOfHosts } from './urls-of-hosts.ts'
