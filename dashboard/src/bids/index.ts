/** Bids: the list, the upload of a shipper's file, and the lanes with their rates. */
export { BidsPage as default } from './bids.tsx'
