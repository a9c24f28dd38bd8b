/** The integration page: tokens, signing secrets, event endpoints, the log of calls, and the signature debugger. */
export { default } from './integration.tsx'
