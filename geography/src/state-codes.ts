/** Maps the data source's numbers of Canadian provinces to the codes saved with quotes. */
const canada: Readonly<Record<string, string>> = {
  '01': 'AB',
  '02': 'BC',
  '03': 'MB',
  '04': 'NB',
  '05': 'NL',
  '07': 'NS',
  '08': 'ON',
  '09': 'PE',
  '10': 'QC',
  '11': 'SK',
  '12': 'YT',
  '13': 'NT',
  '14': 'NU',
}

const mexicoInOrder =
  'AGU BCN BCS CAM CHP CHH COA COL CMX DUR GUA GRO HID JAL MEX MIC MOR NAY NLE OAX PUE QUE ROO SLP SIN SON TAB TAM TLA VER YUC ZAC'.split(
    ' ',
  )

/**
 * The state code saved with quotes, from a city's country and the data source's state code. Null if there is none.
 *
 * @example stateOfAdminCode('MX', '19') // 'NLE'
 */
export function stateOfAdminCode(country: 'US' | 'PR' | 'CA' | 'MX', adminCode: string): string | null {
  if (country === 'US') return adminCode
  if (country === 'PR') return 'PR'
  if (country === 'CA') return canada[adminCode] ?? null
  return mexicoInOrder[Number(adminCode) - 1] ?? null
}

/**
 * The Mexican states that a two-letter code may mean. Load boards differ (CH is Chihuahua on one and Chiapas on
 * another), and some codes are also US or Canadian codes. Only the city can resolve the ambiguity.
 */
const mexicanReadings: Readonly<Record<string, readonly string[]>> = {
  BC: ['BCN'],
  CO: ['COA', 'COL'],
  MI: ['MIC'],
  MO: ['MOR'],
  NL: ['NLE'],
  CH: ['CHH', 'CHP'],
  CI: ['CHH'],
  CL: ['COL', 'COA'],
  CM: ['COL', 'CAM'],
  CS: ['CHP'],
  MC: ['MIC'],
  MX: ['MEX', 'CMX'],
  SL: ['SLP'],
  SP: ['SLP'],
  TA: ['TAM', 'TAB'],
}

/**
 * The states that a code may mean, in groups to try in order: the code itself first, then Mexican states.
 *
 * @example statesMeantBy('CO') // [['CO'], ['COA', 'COL']]
 */
export function statesMeantBy(state: string): readonly (readonly string[])[] {
  const mexican = mexicanReadings[state]
  return mexican ? [[state], mexican] : [[state]]
}
