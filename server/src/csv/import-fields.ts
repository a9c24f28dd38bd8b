import { chargeFields, type ImportField } from './charge-fields.ts'
import { foreignHeaders, foreignMeanings } from './foreign-headers.ts'

/**
 * The fields of an imported quote, and the column names that mean them.
 *
 * Every TMS and load board has its own column names. A header is folded (case, spaces, underscores, and signs are ignored)
 * and looked up in a list of known names. An ambiguous name is never guessed: the user resolves it with a map, and the error
 * shows how.
 */

/** Longer column names are not folded: known names have at most 40 characters. */
export const nameLengthMax = 1_000

/** All fields, in the order in which they are listed for users. */
export const importFields = {
  origin: {
    description: 'pickup place in one column, such as "Dallas, TX", "Dallas TX 75201", 75201 or DFW',
    aliases: [
      'O',
      'Pickup City State',
      'Pickup City/ST',
      'Ship From',
      'Pickup Location',
      'Pick Location',
      'Origin Location',
      'Origin City State',
      'Origin City/ST',
      'Orig',
      'From',
      'From City State',
      'PU Location',
      'Shipper City State',
    ],
  },
  origin_city: {
    description: 'pickup city',
    aliases: [
      'Orig City',
      'O City',
      'From City',
      'Ship From City',
      'Pickup City',
      'Pick City',
      'PU City',
      'Shipper City',
      'Origin City Name',
    ],
  },
  origin_state: {
    description: 'pickup state',
    aliases: [
      'Orig State',
      'Origin ST',
      'O State',
      'O ST',
      'From State',
      'Ship From State',
      'Pickup State',
      'Pick State',
      'PU State',
      'PU ST',
      'Shipper State',
      'Origin Province',
      'Origin State Province',
    ],
  },
  origin_zip: {
    description: 'pickup ZIP or postal code, in addition to the city and state or instead of them',
    aliases: [
      'Orig Zip',
      'O Zip',
      'From Zip',
      'Ship From Zip',
      'Pickup Zip',
      'PU Zip',
      'Shipper Zip',
      'Origin Zip Code',
      'Origin ZIP5',
      'Origin Postal',
      'Origin Postal Code',
      'Pickup Zip Code',
      'Pickup Postal Code',
    ],
  },
  destination: {
    description: 'delivery place in one column, such as "Atlanta, GA", "Atlanta GA 30303", 30303 or ATL',
    aliases: [
      'D',
      'Drop',
      'Drop Off',
      'Delivery City State',
      'Delivery City/ST',
      'Ship To',
      'Dest',
      'Delivery Location',
      'Drop Location',
      'Destination Location',
      'Destination City State',
      'Destination City/ST',
      'Dest City State',
      'To',
      'To City State',
      'DEL Location',
      'Consignee City State',
    ],
  },
  destination_city: {
    description: 'delivery city',
    aliases: [
      'Dest City',
      'D City',
      'To City',
      'Ship To City',
      'Delivery City',
      'Drop City',
      'DEL City',
      'Consignee City',
      'Destination City Name',
    ],
  },
  destination_state: {
    description: 'delivery state',
    aliases: [
      'Dest State',
      'Dest ST',
      'Destination ST',
      'D State',
      'D ST',
      'To State',
      'Ship To State',
      'Delivery State',
      'Drop State',
      'DEL State',
      'DEL ST',
      'Consignee State',
      'Destination Province',
      'Destination State Province',
    ],
  },
  destination_zip: {
    description: 'delivery ZIP or postal code, in addition to the city and state or instead of them',
    aliases: [
      'Dest Zip',
      'D Zip',
      'To Zip',
      'Ship To Zip',
      'Delivery Zip',
      'Drop Zip',
      'DEL Zip',
      'Consignee Zip',
      'Destination Zip Code',
      'Destination ZIP5',
      'Dest Zip Code',
      'Destination Postal',
      'Destination Postal Code',
      'Delivery Zip Code',
      'Delivery Postal Code',
    ],
  },
  equipment: {
    description: 'equipment code or name, such as V or Reefer',
    aliases: [
      'Equipment Type',
      'Equipment Code',
      'Equip',
      'Equip Type',
      'Eq Type',
      'EQ',
      'EQP',
      'Truck',
      'Trailer',
      'Trailer Type',
      'Truck Type',
      'Mode Equipment',
    ],
  },
  quoted_rate: {
    description: 'what was quoted to the customer',
    aliases: [
      'Quote',
      'Quote Rate',
      'Quoted Price',
      'Quoted Amount',
      'Quote Price',
      'Quote Amount',
      'Quote Total',
      'Bid',
      'Bid Rate',
      'Bid Amount',
      'Offered Rate',
      'Offer Rate',
      'Our Rate',
    ],
  },
  customer_rate: {
    description: 'AR, what the customer pays for the booked load',
    aliases: [
      'AR',
      'AR Amount',
      'Sell',
      'Sell Rate',
      'Sell Price',
      'Sale Price',
      'Sales Price',
      'Selling Rate',
      'Linehaul',
      'Linehaul Revenue',
      'Customer Linehaul',
      'Revenue',
      'Total Revenue',
      'Load Revenue',
      'Billed Amount',
      'Bill Rate',
      'Invoice Amount',
      'Invoiced Amount',
      'Customer Charge',
      'Customer Total',
      'Customer Price',
      'Customer Pay',
      'Shipper Rate',
      'Book Price',
      'Booked Price',
      'Booked Rate',
      'Booking Price',
    ],
  },
  truck_cost: {
    description: 'AP, what the carrier is paid for the booked load',
    aliases: [
      'AP',
      'AP Amount',
      'Buy',
      'Buy Rate',
      'Buy Price',
      'Buying Rate',
      'Carrier Rate',
      'Carrier Cost',
      'Carrier Pay',
      'Carrier Price',
      'Carrier Total',
      'Carrier Charge',
      'Carrier Charges',
      'Carrier Linehaul',
      'Truck Pay',
      'Truck Rate',
      'Pay Rate',
      'Source Price',
      'Sourced Price',
      'Purchased Transportation',
      'Load Cost',
    ],
  },
  ...chargeFields,
  estimated_cost: {
    description: 'what the truck was expected to cost when the rate was quoted',
    aliases: [
      'Est Cost',
      'Expected Cost',
      'Cost Estimate',
      'Target Cost',
      'Target Buy',
      'Target Buy Rate',
      'Estimated Truck Cost',
      'Estimated Buy Rate',
      'Estimated Carrier Cost',
    ],
  },
  market_rate: {
    description: 'external market rate at the time',
    aliases: [
      'Market',
      'Market Price',
      'Market Average',
      'Market Avg',
      'Benchmark',
      'Benchmark Rate',
      'Spot Rate',
      'Spot Market Rate',
      'DAT Rate',
      'RateView',
      'Index Rate',
    ],
  },
  miles: {
    description: 'loaded miles',
    aliases: [
      'Mileage',
      'Distance',
      'Loaded Miles',
      'Total Miles',
      'Trip Miles',
      'Practical Miles',
      'Distance Miles',
    ],
  },
  customer_name: {
    description: 'the customer the quote was for',
    aliases: [
      'Customer',
      'Shipper Name',
      'Client',
      'Client Name',
      'Account',
      'Account Name',
      'Bill To',
      'Bill To Name',
      'Company',
    ],
  },
  carrier_name: {
    description: 'the carrier of the booking',
    aliases: ['Carrier', 'Trucker', 'Trucking Company', 'Motor Carrier', 'Vendor', 'Vendor Name'],
  },
  carrier_mc: {
    description: "the carrier's MC number",
    aliases: ['MC', 'MC Number', 'MC No', 'Carrier MC Number', 'MC Num', 'Docket', 'Docket Number'],
  },
  outcome: {
    description: 'the outcome: won, lost, sent, expired, booked ...',
    aliases: [
      'Status',
      'Quote Status',
      'Load Status',
      'Result',
      'Quote Result',
      'Quote Outcome',
      'Won',
      'Won Lost',
      'Win Loss',
      'Disposition',
    ],
  },
  outcome_reason: {
    description: 'why it was lost: price, service, capacity, no response, customer withdrew, other',
    aliases: ['Reason', 'Lost Reason', 'Loss Reason', 'Reason Lost', 'Status Reason', 'Win Loss Reason'],
  },
  cancelled: {
    description: 'whether the load was cancelled: yes or no. Rows with yes are left out',
    aliases: [],
  },
  quoted_at: {
    description: 'when it was quoted',
    aliases: [
      'Quote Date',
      'Quoted On',
      'Quoted Date',
      'Date Quoted',
      'Quote Created',
      'Quote Time',
      'Created',
      'Created At',
      'Created On',
      'Created Date',
      'Date Created',
      'Create Date',
      'Request Date',
      'Requested At',
      'Bid Date',
    ],
  },
  decided_at: {
    description: 'when the customer answered',
    aliases: [
      'Decided',
      'Decision Date',
      'Decided On',
      'Closed',
      'Closed At',
      'Closed Date',
      'Close Date',
      'Won Lost Date',
      'Answered At',
    ],
  },
  booked_at: {
    description: 'when the load was booked',
    aliases: [
      'Book Date',
      'Booked',
      'Booked On',
      'Booked Date',
      'Date Booked',
      'Booking Date',
      'Tender Date',
      'Tendered At',
      'Awarded At',
      'Award Date',
    ],
  },
  pickup_date: {
    description: 'day of pickup',
    aliases: [
      'Pick Date',
      'PU Date',
      'Pickup Day',
      'Pick Day',
      'Ship Date',
      'Shipped Date',
      'Pickup Time',
      'Pickup At',
      'Load Date',
    ],
  },
  updated_at: {
    description: 'when the row was changed last: of several rows with one id, the latest counts',
    aliases: [
      'Updated',
      'Updated On',
      'Last Updated',
      'Modified',
      'Modified At',
      'Last Modified',
      'Modified Date',
    ],
  },
  rate_type: {
    description: 'spot or contract',
    aliases: ['Spot Contract', 'Spot or Contract', 'Contract Type', 'Pricing Type', 'Quote Type'],
  },
  mode: {
    description: 'how the load moves: truckload, partial, LTL, drayage or intermodal',
    aliases: [
      'Shipment Mode',
      'Transport Mode',
      'Transportation Mode',
      'Freight Mode',
      'Load Mode',
      'Mode of Transport',
    ],
  },
  stops: {
    description:
      'the places between origin and destination, separated by semicolons; a load with stops is in no statistic of a lane',
    aliases: ['Intermediate Stops', 'Stop Cities', 'Stop Offs'],
  },
  rep_name: {
    description: 'who quoted it: the name or e-mail address of a person of the brokerage, or another name',
    aliases: [
      'Rep',
      'Sales Rep',
      'Sales Representative',
      'Sales Person',
      'Account Rep',
      'Account Manager',
      'Account Executive',
      'Customer Rep',
      'Broker Rep',
      'Quoted By',
      'Quoting Rep',
      'Booked By',
    ],
  },
  reference: {
    description:
      "the file's own id of the quote or load; a row of a known id, or with a lane_ref of this brokerage, updates its quote",
    aliases: [
      'Load ID',
      'Load',
      'Load Number',
      'Load No',
      'Load Num',
      'Loadsmart ID',
      'Quote ID',
      'Quote Number',
      'Quote No',
      'Shipment ID',
      'Shipment Number',
      'Shipment No',
      'Order ID',
      'Order Number',
      'Order No',
      'Pro Number',
      'Pro No',
      'Pro',
      'External ID',
      'External Reference',
      'Reference ID',
      'Reference Number',
      'Ref',
      'Ref Number',
      'ID',
    ],
  },
  lane_ref: {
    description:
      'a lane_ref of this service: the row changes that quote, or is its booking or outcome, not a new quote',
    aliases: ['Lanewise Ref', 'Lanewise Lane Ref', 'Lane Reference'],
  },
  superseded_by: {
    description: 'the offer that counts instead of this one. A row with it makes no new quote',
    aliases: [],
  },
  voided_at: {
    description: 'when the quote was voided. A row with it makes no new quote',
    aliases: [],
  },
} as const satisfies Record<string, ImportField>

export type ImportFieldName = keyof typeof importFields
export const importFieldNames = Object.keys(importFields) as ImportFieldName[]

/**
 * Names with different meanings in different files, and their possible fields. Only `guessedHeaders` are read; the others are
 * suggested.
 */
export const ambiguousHeaders: ReadonlyMap<string, readonly ImportFieldName[]> = new Map(
  Object.entries<ImportFieldName[]>({
    Rate: ['quoted_rate', 'customer_rate', 'truck_cost'],
    Price: ['quoted_rate', 'customer_rate', 'truck_cost'],
    Amount: ['quoted_rate', 'customer_rate', 'truck_cost'],
    Total: ['quoted_rate', 'customer_rate', 'truck_cost'],
    'Flat Rate': ['quoted_rate', 'customer_rate', 'truck_cost'],
    'All In': ['quoted_rate', 'customer_rate', 'truck_cost'],
    'All In Rate': ['quoted_rate', 'customer_rate', 'truck_cost'],
    'Target Rate': ['quoted_rate', 'customer_rate', 'truck_cost'],
    Target: ['quoted_rate', 'customer_rate', 'truck_cost'],
    Cost: ['truck_cost', 'estimated_cost'],
    Date: ['quoted_at', 'booked_at', 'pickup_date'],
    Time: ['quoted_at', 'booked_at', 'pickup_date'],
    Pickup: ['origin', 'pickup_date'],
    PU: ['origin', 'pickup_date'],
    Delivery: ['destination'],
    Shipper: ['origin', 'customer_name'],
    Consignee: ['destination'],
    Type: ['equipment'],
    Mode: ['mode', 'equipment'],
    City: ['origin_city', 'destination_city'],
    Zip: ['origin_zip', 'destination_zip'],
    'Zip Code': ['origin_zip', 'destination_zip'],
    'Postal Code': ['origin_zip', 'destination_zip'],
    Postal: ['origin_zip', 'destination_zip'],
    State: ['origin_state', 'destination_state'],
    ST: ['origin_state', 'destination_state'],
    // In Spanish, a state and a status.
    Estado: ['origin_state', 'destination_state', 'outcome'],
    Province: ['origin_state', 'destination_state'],
    Prov: ['origin_state', 'destination_state'],
    Lane: ['origin', 'destination', 'lane_ref'],
    Quoted: ['quoted_rate', 'quoted_at'],
    Booked: ['booked_at', 'outcome', 'customer_rate'],
    // Even this exact name must be confirmed by a person, because the column decides which rows are left out.
    Cancelled: ['cancelled'],
  }).flatMap(([name, fields]) =>
    foldedInAll(name).map((folded): [string, readonly ImportFieldName[]] => [folded, fields]),
  ),
)

/** An ambiguous name in English, Spanish and French, folded. */
export function foldedInAll(name: string): string[] {
  return [name, ...(foreignMeanings[name] ?? [])].map(foldedHeader)
}

export type PartOfPlace = Extract<ImportFieldName, `${string}_${'state' | 'zip'}`>
export const isPartOfPlace = (field: ImportFieldName): field is PartOfPlace => /_(state|zip)$/.test(field)

/**
 * Removes the differences between spellings of a header: case, spaces, underscores, dashes, and signs.
 *
 * @example foldedHeader('Sell_Rate ($)') // 'sellrate'
 */
export function foldedHeader(header: string): string {
  if (header.length > nameLengthMax) return header
  return header
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/\(?\b(usd|us\$)\)?/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, '')
}

export const foldedNames = <Field extends string>(
  field: Field,
  { aliases }: ImportField,
): [string, Field][] => [field, ...aliases].map((name) => [foldedHeader(name), field])

const inOtherLanguages: Readonly<Partial<Record<ImportFieldName, readonly string[]>>> = foreignHeaders

/** Folded header -> field, for unambiguous headers, and for `mode`, which may mean equipment only where the cells are known. */
export const fieldOfHeader: ReadonlyMap<string, ImportFieldName> = new Map(
  importFieldNames
    .flatMap((field) => [
      ...foldedNames(field, importFields[field]),
      ...(inOtherLanguages[field] ?? []).map((name): [string, ImportFieldName] => [
        foldedHeader(name),
        field,
      ]),
    ])
    .filter(([name]) => name === 'mode' || !ambiguousHeaders.has(name)),
)
