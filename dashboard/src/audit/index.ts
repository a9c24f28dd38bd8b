/** The audit log, with the proof that nothing in it was changed. */
export { default } from './audit.tsx'
