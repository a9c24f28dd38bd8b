/** The page of a lane: its evidence, curve, months, map, scopes and scores. */
export { default } from './lane.tsx'
