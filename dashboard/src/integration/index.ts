/** The integration page: tokens, signing secrets, event endpoints, request log, and signature debugger. */
export { default } from './integration.tsx'
