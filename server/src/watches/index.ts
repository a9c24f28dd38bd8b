/**
 * The lane watch: once a day, looks for moves of the lanes, customers and markets that people follow, and tells them.
 */
export { laneWatcher } from './lane-watcher.ts'
export { type ShownMove, shownMoves } from './shown-moves.ts'
