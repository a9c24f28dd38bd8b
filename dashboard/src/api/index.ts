/** Calls to the service, typed by the contract, with cached answers and the session. Only the client uses fetch. */
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
export { quotesHaveChanged, showQuote, stopReloadingQuotes } from './quote-caches.ts'
export {
  beginSession,
  sessionQuery,
  storeSession,
  useMay,
  useSession,
  useSessionCheck,
  useSignIn,
} from './session.ts'
