/** The team: people, their roles, and invitations. */
export { default } from './team.tsx'
