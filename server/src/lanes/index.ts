/**
 * Lanes as people and machines name and see them: places, equipment, the lane in an answer, and the CSV of lanes.
 */
export { laneAnswer, laneAnswers, shownLane } from './lane-answer.ts'
export { laneCsvHead, laneCsvLines } from './lane-csv.ts'
export {
  type AskedLane,
  knownOrFolded,
  lanePlaces,
  placesMeantMax,
  readAskedLane,
  readEquipment,
  readLanePlaces,
  readPlaceKey,
} from './lane-places.ts'
export { closestFinder, type FindClosest, unknownEnds, unknownPlaces } from './unknown-places.ts'
