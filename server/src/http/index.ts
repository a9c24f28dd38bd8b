/**
 * The HTTP application: admission, routes, error responses, the dashboard's files, and answers from memory.
 */
export { buildApp } from './app.ts'
export { operationPaths } from './service-routes.ts'
