/** The page of a lane: map, figures, win curve, quotes, months, scores and scopes. */
export { default } from './lane.tsx'
