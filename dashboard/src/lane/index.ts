/** The page of a lane: its evidence, curve, months, map, scopes and scores. */
export { default } from './lane.tsx'
export {
  bucketDays,
  bucketsMax,
  parPrior,
  scopeLadder,
  scoreRule,
  signalRule,
  signalWords,
} from './lane-rules.ts'
