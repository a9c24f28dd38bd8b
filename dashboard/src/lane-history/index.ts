/** The change history of a quote: what changed, by whom, and by which rule. */

export { LaneChanges } from './lane-changes.tsx'
export { fieldName, valueWords } from './lane-changes-words.ts'
