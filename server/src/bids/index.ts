/**
 * Bids: reads a shipper's file into lanes, prices them in the background, and fills the rates into the file.
 */
export { awardOf, awardsOfFile, knownAwardNames, laneNamed, readAwardFile } from './award-file.ts'
export { type BidColumnMatch, headerDigest, matchBidColumns } from './bid-columns.ts'
export {
  filledBid,
  openBidFile,
  type ReadLane,
  readBidLanes,
  readSentPlace,
  storedBidColumns,
} from './bid-file.ts'
export { type BidPricer, bidPricer } from './bid-pricer.ts'
export { portfolioInThread, type SolvedRates } from './portfolio-thread.ts'
