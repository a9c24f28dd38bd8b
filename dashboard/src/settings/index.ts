/** Settings of the brokerage and of the signed-in person. */
export { default } from './settings.tsx'
