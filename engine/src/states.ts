/**
 * US states (with DC and Puerto Rico), Canadian provinces and Mexican states: the code saved with a quote, and its other spellings.
 * Spellings are normalized: lower case, no accents, no spaces.
 */
const UNITED_STATES: Readonly<Record<string, string>> = {
  AL: 'alabama',
  AK: 'alaska',
  AZ: 'arizona',
  AR: 'arkansas',
  CA: 'california',
  CO: 'colorado',
  CT: 'connecticut',
  DE: 'delaware',
  DC: 'districtofcolumbia',
  FL: 'florida',
  GA: 'georgia',
  HI: 'hawaii',
  ID: 'idaho',
  IL: 'illinois',
  IN: 'indiana',
  IA: 'iowa',
  KS: 'kansas',
  KY: 'kentucky',
  LA: 'louisiana',
  ME: 'maine',
  MD: 'maryland',
  MA: 'massachusetts',
  MI: 'michigan',
  MN: 'minnesota',
  MS: 'mississippi',
  MO: 'missouri',
  MT: 'montana',
  NE: 'nebraska',
  NV: 'nevada',
  NH: 'newhampshire',
  NJ: 'newjersey',
  NM: 'newmexico',
  NY: 'newyork',
  NC: 'northcarolina',
  ND: 'northdakota',
  OH: 'ohio',
  OK: 'oklahoma',
  OR: 'oregon',
  PA: 'pennsylvania',
  PR: 'puertorico',
  RI: 'rhodeisland',
  SC: 'southcarolina',
  SD: 'southdakota',
  TN: 'tennessee',
  TX: 'texas',
  UT: 'utah',
  VT: 'vermont',
  VA: 'virginia',
  WA: 'washington',
  WV: 'westvirginia',
  WI: 'wisconsin',
  WY: 'wyoming',
}

/** Some load boards still use NF for Newfoundland and PQ for Quebec. */
const CANADA: Readonly<Record<string, string>> = {
  AB: 'alberta',
  BC: 'britishcolumbia',
  MB: 'manitoba',
  NB: 'newbrunswick',
  NL: 'nf newfoundland newfoundlandandlabrador newfoundlandlabrador',
  NS: 'novascotia',
  NT: 'northwestterritories',
  NU: 'nunavut',
  ON: 'ontario',
  PE: 'pei princeedwardisland',
  QC: 'pq quebec',
  SK: 'saskatchewan',
  YT: 'yukon yukonterritory',
}

/**
 * Mexican states under their three-letter codes, which are unique. A two-letter code is mapped only if every list in
 * use gives it the same state and neither the US nor Canada uses it: BC, CO, MI, MO and NL keep their US or Canadian
 * meaning. NA is not accepted, because it also means "not available". The name "Mexico" is not accepted, because it
 * usually means the country.
 */
const MEXICO: Readonly<Record<string, string>> = {
  AGU: 'ag ags aguascalientes',
  BCN: 'bn bajacalifornia bajacalifornianorte',
  BCS: 'bs bajacaliforniasur',
  CAM: 'cp camp campeche',
  CHP: 'chis chiapas',
  CHH: 'chih chihuahua',
  COA: 'cu coah coahuila coahuiladezaragoza',
  COL: 'colima',
  CMX: 'cx df cdmx distritofederal ciudaddemexico',
  DUR: 'dg dgo durango',
  GUA: 'gj gt gto guanajuato',
  GRO: 'gr guerrero',
  HID: 'hg hgo hidalgo',
  JAL: 'ja jalisco',
  MEX: 'em edomex estadodemexico',
  MIC: 'mh michoacan michoacandeocampo',
  MOR: 'mr morelos',
  NAY: 'nayarit',
  NLE: 'nx nuevoleon',
  OAX: 'oa oaxaca',
  PUE: 'pu puebla',
  QUE: 'qe qt qro queretaro queretarodearteaga',
  ROO: 'qr qroo quintanaroo',
  SLP: 'sanluispotosi',
  SIN: 'si sinaloa',
  SON: 'so sonora',
  TAB: 'tb tabasco',
  TAM: 'tm ts tamps tamaulipas',
  TLA: 'tl tlax tlaxcala',
  VER: 'vc ve vz veracruz',
  YUC: 'yu yucatan',
  ZAC: 'za zacatecas',
}

/**
 * Two-letter codes that load boards use for different Mexican states (CH is Chihuahua on one board and Chiapas on another). The
 * service accepts them, because the sender knows the meaning, and saves them unchanged.
 */
const MEXICO_AMBIGUOUS = ['CH', 'CI', 'CL', 'CM', 'CS', 'MC', 'MX', 'SL', 'SP', 'TA']

const CODE_OF_SPELLING: ReadonlyMap<string, string> = new Map(
  [
    ...Object.entries({ ...UNITED_STATES, ...CANADA, ...MEXICO }),
    ...MEXICO_AMBIGUOUS.map((code): [string, string] => [code, '']),
  ].flatMap(([code, spellings]) =>
    [code.toLowerCase(), ...spellings.split(' ')].map((spelling) => [spelling, code]),
  ),
)

/**
 * The code of a state given as a code or a name, or null if it is unknown. `folded` is lower case without accents or
 * spaces (`readPlace` normalizes it).
 *
 * The city does not change how a state code is read: "CO" is CO after both Denver and Torreón.
 *
 * @example stateCode('newyork') // 'NY'
 * @example stateCode('pq') // 'QC'
 */
export function stateCode(folded: string): string | null {
  return folded === '' ? null : (CODE_OF_SPELLING.get(folded) ?? null)
}

/** Every state code that can be saved. */
export const STATE_CODES: ReadonlySet<string> = new Set(CODE_OF_SPELLING.values())
