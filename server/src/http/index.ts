/**
 * The HTTP application: admission, routes, error responses, and the dashboard's files.
 */
export { buildApp } from './app.ts'
export { operationPaths } from './service-routes.ts'
