/** The history of a lane, change by change: who changed what, and by which rule. */

export { LaneChanges } from './lane-changes.tsx'
export { fieldName, valueWords } from './lane-changes-words.ts'
