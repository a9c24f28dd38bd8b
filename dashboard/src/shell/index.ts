/** The frame around every page: navigation, notices about expiring tokens, and the page for unknown addresses. */
export { useStartHidden } from './first-steps-hidden.ts'
export { NoSuchPage } from './no-such-page.tsx'
export { Shell } from './shell.tsx'
