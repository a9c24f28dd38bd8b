/**
 * States by region: seven regions of the United States, four of Canada, four of Mexico. A region is the widest area
 * whose quotes are still comparable with those of a lane. Alaska, Hawaii and Puerto Rico are in no region, because
 * freight goes there by water and its rates are not truck rates.
 *
 * Two-letter codes that a Mexican state shares with the US or Canada (BC, CO, MI, MO, NL) mean the US state or
 * Canadian province; Mexican states have three-letter codes here. Codes that load boards use for different Mexican
 * states are in no region.
 */
export const STATES_OF_REGION: Readonly<Record<string, string>> = {
  'US-NE': 'CT ME MA NH RI VT NJ NY PA',
  'US-MW': 'IL IN MI OH WI',
  'US-PL': 'IA KS MN MO NE ND SD',
  'US-SE': 'DE FL GA MD NC SC VA DC WV AL KY MS TN',
  'US-SC': 'AR LA OK TX',
  'US-MT': 'AZ CO ID MT NV NM UT WY',
  'US-PC': 'CA OR WA',
  'CA-WEST': 'BC YT',
  'CA-PRAIRIES': 'AB SK MB NT NU',
  'CA-CENTRAL': 'ON QC',
  'CA-ATLANTIC': 'NB NS PE NL',
  'MX-NORTH': 'BCN BCS SON CHH COA NLE TAM SIN DUR',
  'MX-WEST': 'JAL NAY COL MIC GUA AGU SLP ZAC QUE',
  'MX-CENTRAL': 'CMX MEX HID PUE TLA MOR VER GRO',
  'MX-SOUTH': 'OAX CHP TAB CAM YUC ROO',
}

const REGION_OF_STATE: ReadonlyMap<string, string> = new Map(
  Object.entries(STATES_OF_REGION).flatMap(([region, states]) =>
    states.split(' ').map((state): [string, string] => [state, region]),
  ),
)

/**
 * The region of a state code as returned by `readPlace`, or null if the state is in no region.
 *
 * @example regionOf('TX') // 'US-SC'
 * @example regionOf('HI') // null
 */
export function regionOf(stateCode: string): string | null {
  return REGION_OF_STATE.get(stateCode) ?? null
}
