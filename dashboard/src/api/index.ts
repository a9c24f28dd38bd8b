/** Calls to the service, typed by the contract, with their cached answers and the session. The client fetches; nothing else does. */
export { useAnswer, useChange } from './answers.ts'
export {
  type Answer,
  addressOfCall,
  type Body,
  builtFile,
  CallFailed,
  call,
  forgetSession,
  type Query,
  reachService,
  whenSessionEnds,
} from './call.ts'
export { laneHasChanged, showLane } from './lane-caches.ts'
export { sessionQuery, useArrival, useMay, useSession } from './session.ts'
