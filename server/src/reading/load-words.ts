import { knownEquipment } from '#engine/equipment.ts'

/** A value that a text names, or the question about it. */
export interface ValueMention<T> {
  readonly at: number
  readonly end: number
  readonly text: string
  readonly value: T | null
  readonly ask: { readonly detail: string; readonly options: readonly string[] } | null
}

function* matches(text: string, form: RegExp): Generator<RegExpExecArray> {
  for (const one of text.matchAll(form)) yield one
}

const overlaps = (list: readonly { at: number; end: number }[], at: number, end: number) =>
  list.some((one) => one.at < end && one.end > at)

/** Trailers without a code of their own, and words that name two. They come first: "cargo van" is no van. */
const otherTrailers =
  /\b(?:cargo vans?|sprinter(?: vans?)?|box trucks?|straight trucks?|(?:\d\d ?(?:ft|'|foot) )?box(?= truck)|tankers?|hoppers?|end dumps?|dump trucks?|car ?haulers?|auto ?carriers?|low ?boys?|curtain ?sides?|vented vans?|(?:moving|mini) ?vans?|bobtails?|chassis|flat ?racks?|side ?kits?|maxi flats?|pneumatics?|step ?deck conestogas?|live ?bottoms?|walking floors?|b-?trains?|super ?b|double drop conestoga|stretch(?: rgn)?|(?:dry )?vans? ?(?:or|\/|and|&) ?(?:reefers?|rfrs?|flat ?beds?|flats)|reefers? ?(?:or|\/|and|&) ?(?:dry )?vans?|flat ?beds? ?(?:or|\/|and|&) ?step ?decks?|step ?decks? ?(?:or|\/|and|&) ?flat ?beds?|v ?\/ ?r|vr|f ?\/ ?sd|fsd|fsdv|open deck)\b/gi
const trailers =
  /(?<![\p{L}\d-])(?:[2-5]\d ?(?:['’"]|-?ft\.?|-?foot)? ?)?(?:dry ?vans?|vans?|reefer vans?|reefers?|rfrs?|reefs?|refrigerated(?: (?:vans?|trailers?|trucks?))?|temp(?:erature)?[- ]controlled|flat ?beds?|flats|step ?decks?|drop ?decks?|double ?drops?|rgns?|removable goosenecks?|power ?only|hot ?shots?|conestogas?|intermodal(?: containers?)?|DV|FB|RGN|SD|PO(?= load)|dry(?= (?:load|truck|freight|trailer|53)))(?![\p{L}\d]|-(?:\p{L}))/giu
const trailerOptions: Readonly<Record<string, readonly string[]>> = {
  v: ['V', 'R'],
  r: ['R', 'V'],
  d: ['V', 'R'],
  f: ['F', 'SD'],
  s: ['SD', 'F'],
}

/** The equipment that a text names. @example equipmentIn("need a 53' reefer")[0]?.value // 'R' */
export function equipmentIn(text: string): ValueMention<string>[] {
  const found: ValueMention<string>[] = []
  for (const one of matches(text, otherTrailers)) {
    const isPair = /\bor\b|\/|\band\b|&|^vr$/i.test(one[0])
    const options = isPair ? (trailerOptions[one[0][0]?.toLowerCase() ?? ''] ?? []) : []
    const ask = { detail: `"${one[0]}" is not one equipment that is known`, options }
    found.push({ at: one.index, end: one.index + one[0].length, text: one[0], value: null, ask })
  }
  for (const one of matches(text, trailers)) {
    const end = one.index + one[0].length
    if (overlaps(found, one.index, end)) continue
    const word = one[0].replace(/^[\d'’"\s-]+(?:ft\.?|foot)?\s*/i, '')
    const next = text.slice(end, end + 12)
    if (/^flats?$/i.test(word) && /^ ?(?:rate|fee|price)/i.test(next)) continue
    if (/^(?:vans?)$/i.test(word) && /^ (?:Nuys|Buren|Wert|Horn|Alstyne|Vleck|Dyke|Meter)/.test(next))
      continue
    if (/^dry$/i.test(word)) {
      found.push({ at: one.index, end, text: one[0], value: 'V', ask: null })
      continue
    }
    const code =
      knownEquipment(
        word
          .replace(/^temp(?:erature)?-controlled$/i, 'temp controlled')
          .replace(/^refrigerated (?:trailers?|trucks?)$/i, 'reefer')
          .replace(/ ?goosenecks$/i, ' gooseneck')
          .replace(/^reefs$/i, 'reefer')
          .replace(/^flats$/i, 'flatbed')
          .replace(/^rgns$/i, 'rgn'),
      ) ?? knownEquipment(word.replace(/s$/i, ''))
    const before = text.slice(Math.max(0, one.index - 30), one.index)
    const isDenied =
      /\b(?:no|not|non|don['’]?t|without|never|instead of|nothing but|isn['’]?t|cannot|can['’]?t)\b[^.\n;,]{0,20}$/i.test(
        before,
      ) || /^ (?:not|is not|isn['’]?t)\b/i.test(next)
    const isFull = code !== null && !isDenied
    const ask = isFull
      ? null
      : {
          detail: isDenied
            ? `"${before.trim().split(/\s+/).slice(-2).join(' ')} ${one[0]}" may say what is not wanted`
            : `"${one[0]}" is not an equipment that is known`,
          options: [],
        }
    found.push({ at: one.index, end, text: one[0], value: isFull ? code : null, ask })
  }
  return found.sort((a, b) => a.at - b.at)
}

const modeWords = /(?<![\p{L}\d])(?:ltl|partials?|ptl|drayage|dray|intermodal|volume ltl)(?![\p{L}\d])/giu
/** Modes other than a truckload. */
export function modesIn(text: string): ValueMention<string>[] {
  return [...matches(text, modeWords)].map((one) => {
    const word = one[0].toLowerCase()
    const value =
      word.includes('ltl') && word !== 'ptl'
        ? 'ltl'
        : word.startsWith('p')
          ? 'partial'
          : word.startsWith('dray')
            ? 'drayage'
            : 'intermodal'
    const before = text.slice(Math.max(0, one.index - 12), one.index)
    const isDenied = /\b(?:no|not|non|or|and|\/)[ -]*$/i.test(before)
    return {
      at: one.index,
      end: one.index + one[0].length,
      text: one[0],
      value: isDenied ? null : value,
      ask: isDenied ? { detail: 'The mode is not clear', options: [value, 'truckload'] } : null,
    }
  })
}

const weights =
  /(?<![\d$.,/-])(?:(\d{1,3}(?:,\d{3})+|\d{4,6}|\d{1,3}(?:\.\d{1,2})?)(?:\.0{1,2})? ?(lbs?\b\.?|pounds\b|#(?!\d)|kgs?\b|tons?\b|k ?(?:lbs?\b|pounds\b|#)|k\b)|(?:weight|wt|wgt|weighs|weighing|gross)\b\.?[ \t]{0,9}(?:is|of|about|approx\.?|~)?[ \t]{0,9}[:=]?[ \t]{0,9}(?:~|approx\.? )?(\d{1,3}(?:,\d{3})+|\d{3,6}|\d{1,2}(?= ?k\b)) ?(k\b)?)/gi

export function weightsIn(text: string): ValueMention<number>[] {
  return [...matches(text, weights)].flatMap((one) => {
    const [, first, unit = '', labelled, labelledK] = one
    const number = Number((first ?? labelled ?? '').replaceAll(',', ''))
    const word = (unit || (labelledK ?? '')).toLowerCase().replace('.', '')
    if (!/k/.test(word) && !word && first !== undefined) return []
    const factor = word.startsWith('kg')
      ? 2.204_622_62
      : word.startsWith('ton')
        ? 2_000
        : word.startsWith('k')
          ? 1_000
          : 1
    const pounds = Math.round(number * factor)
    if (pounds < 100 || pounds > 200_000) return []
    if (word === 'k' && first !== undefined && (pounds > 80_000 || pounds < 2_000)) return []
    return [{ at: one.index, end: one.index + one[0].length, text: one[0], value: pounds, ask: null }]
  })
}

const degrees = String.raw`(-?\d{1,2})(?: ?(?:-|–|to|/) ?(-?\d{1,2}))? ?(?:°|º|deg(?:rees?)?\.?)? ?(F|C|fahrenheit|celsius)?(?![\p{L}\d/:]|[.,]\d|['’"])`
const temperatureWord = String.raw`(?:\b(?:temp(?:erature)?s?|set ?point|setpoint|set (?:at|to)|keep (?:at|it at)?|maintain|run(?:ning)? at|reefer at|protect(?:ed)? (?:at|from)|frozen(?: at)?)\b[ \t]{0,9}(?:req(?:uired|uirement)?s?|setting|set|range|is|of|at|to)?[ \t]{0,9}[:=]?[ \t]{0,9}(?:at )?)`
const temperatures = [
  new RegExp(`${temperatureWord}${degrees}`, 'giu'),
  /(?<![\d$.,/\p{L}-])(-?\d{1,2})(?: ?(?:-|–|to|\/) ?(-?\d{1,2}))? ?(?:(?:°|º) ?(F|C)?|deg(?:rees?)?\b\.? ?(F|C|fahrenheit|celsius)?|(F|C))(?![\p{L}\d])/giu,
]

/** Temperatures: `34 F`, `34 to 36 F`. */
export function temperaturesIn(text: string): ValueMention<string>[] {
  const found: ValueMention<string>[] = []
  for (const form of temperatures) {
    for (const one of matches(text, form)) {
      const end = one.index + one[0].length
      if (overlaps(found, one.index, end)) continue
      const [, low = '', high, ...units] = one
      const unit = units.find((word) => word !== undefined)?.[0]?.toUpperCase()
      if (
        /^-?\d$/.test(low) &&
        high === undefined &&
        unit === undefined &&
        !/temp|frozen|set|keep|maintain/i.test(one[0])
      )
        continue
      const range = high === undefined ? low : `${low} to ${high}`
      const isClear = unit !== undefined || Number(low) <= 0 || Number(low) >= 25
      const ask = isClear
        ? null
        : { detail: 'Fahrenheit or Celsius is not said', options: [`${range} F`, `${range} C`] }
      found.push({
        at: one.index,
        end,
        text: one[0].trim(),
        value: isClear ? `${range} ${unit ?? 'F'}` : null,
        ask,
      })
    }
  }
  return found.sort((a, b) => a.at - b.at)
}

const deniedHazmat =
  /\b(?:non|not|no)[- ]?haz(?:mat|ardous|ard)?\b|\bhaz(?:mat|ardous)?[ \t]{0,9}[:=]?[ \t]{0,9}(?:no|n|none|false)\b/gi
const hazmat =
  /\b(?:haz ?mat|hazardous|haz(?=\b)|un ?\d{4}|placarded|class [1-9](?:\.\d)?(?= (?:haz|material|placard)))\b/gi

export function hazmatIn(text: string): ValueMention<boolean>[] {
  const found: ValueMention<boolean>[] = [...matches(text, deniedHazmat)].map((one) => ({
    at: one.index,
    end: one.index + one[0].length,
    text: one[0],
    value: false,
    ask: null,
  }))
  for (const one of matches(text, hazmat)) {
    const end = one.index + one[0].length
    if (!overlaps(found, one.index, end))
      found.push({ at: one.index, end, text: one[0], value: true, ask: null })
  }
  return found.sort((a, b) => a.at - b.at)
}

const money = String.raw`\$? ?(\d{1,3}(?:,\d{3})+|\d{3,5})(?:\.(\d{2}))?(?![\d%]|[.,]\d| ?(?:lbs?|#|miles|mi|pounds|kg)\b)(?! ?(?:per|a|\/) ?(?:mi|mile)\b)`
const targetWord = String.raw`\b(?:target(?: rate| price| pay)?|budget|need(?:s)? to be (?:at|around|under|below|near)|trying to (?:be|stay) (?:at|around|under|below|near)|looking to (?:be|pay|stay) (?:at|around|about|under|near|below)?|hoping for|paying|we pay|pays|max(?:imum)?(?: rate)?|asking(?: rate)?|offering|customer (?:rate|target))\b[ \t]{0,9}(?:is|of|at|around|about|rate|would be|~)?[ \t]{0,9}[:=]?[ \t]{0,9}(?:around |about |at |~ ?)?`
const targets = new RegExp(`${targetWord}${money}`, 'gi')

/** What the customer wants to pay, in cents. */
export function targetsIn(text: string): ValueMention<number>[] {
  return [...matches(text, targets)].map((one) => ({
    at: one.index,
    end: one.index + one[0].length,
    text: one[0],
    value: Number((one[1] ?? '').replaceAll(',', '')) * 100 + Number(one[2] ?? 0),
    ask: null,
  }))
}

const goods = [
  /\b(?:commodity|commodities|product|cargo|freight|goods|material|mercanc[ií]a|marchandise)[ \t]{0,9}(?:is|are)?[ \t]{0,9}[:=\t][ \t]{0,9}([^\n\t|;]{2,60})/giu,
  /\b(?:lbs?\.?|pounds|k|pallets|plts|skids|cases|load|loads|truckload|truckloads) of ([\p{L}][\p{L}\d '’&/-]{2,40})/giu,
  /\b(?:hauling|carrying|loaded with) ([\p{L}][\p{L}\d '’&/-]{2,40})/giu,
]
const endOfGoods =
  /,|\.(?: |$)|\b(?:from|to|at|on|in|for|picking|pick|pickup|going|out|ready|deliver\w*|needs?|van|reefer|flatbed|ship\w*|weigh\w*|load\w*|\d+ ?(?:lbs?|k|pallets))\b| [-–] /iu

export function commoditiesIn(text: string): ValueMention<string>[] {
  const found: ValueMention<string>[] = []
  for (const form of goods) {
    for (const one of matches(text, form)) {
      const whole = one[1] ?? ''
      const isLabelled = /[:=\t]/.test(one[0].slice(0, one[0].length - whole.length))
      const cut = endOfGoods.exec(whole)
      const value = (cut === null ? whole : whole.slice(0, cut.index)).trim()
      const at = one.index + one[0].length - whole.length
      if (value.length < 2 || overlaps(found, at, at + value.length)) continue
      if (!isLabelled && /^(?:the|this|these|our|your|freight|it|them|each)\b/i.test(value)) continue
      found.push({ at, end: at + value.length, text: value, value, ask: null })
    }
  }
  return found.sort((a, b) => a.at - b.at)
}
