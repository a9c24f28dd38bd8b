/** The audit log, with instructions to verify that it was not changed. */
export { default } from './audit.tsx'
