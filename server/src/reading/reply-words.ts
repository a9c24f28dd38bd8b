import { finished } from '#engine/steps.ts'
import { ownText } from './own-text.ts'

/** What a reply to a quote says, as far as its words are certain. */
export interface ReplyRead {
  /** accepted: the customer takes the rate. countered: it names another one. declined: it does not take the rate. */
  readonly kind: 'accepted' | 'countered' | 'declined'
  /** The rate that the customer names, in dollars; null if it names none. */
  readonly amount: number | null
  /** Why it was declined; null if the words do not say it. */
  readonly reason: 'price' | 'service' | 'withdrawn' | null
  /** The sentence that says it, and where it begins in the text. */
  readonly words: { readonly at: number; readonly text: string }
}

/** Longer replies are not short answers to a quote: people read them. */
const readLength = 4_000

interface Sentence {
  readonly at: number
  readonly text: string
}

/** The sentences of a text. A point between digits ends none. */
function sentencesOf(text: string): Sentence[] {
  const found: Sentence[] = []
  for (const one of text.matchAll(/(?:[^.!?\n;]|\.(?=\d))+[.!?;]?/g)) {
    const begin = one[0].length - one[0].trimStart().length
    const words = one[0].trim()
    if (words !== '') found.push({ at: one.index + begin, text: words })
  }
  return found
}

const accepting =
  /\b(?:book (?:it|this|that|us|them|the load|me)|let['’]?s (?:book|go|do it|roll|move forward)|please book|booked|go ahead|(?:is |are )?approved|(?:we|i) accept|accepted|(?:we|i)(?:['’]ll| will) take (?:it|this|that|the)|(?:you(?:['’]ve| have)? got|you got) (?:it|the load|this one)|awarded(?: to you)?|(?:it|this|the load)(?:['’]?s| is) (?:yours|all yours)|works for (?:me|us)|rate works|send (?:me |us |over )?(?:the |a |your )?(?:rate ?con(?:firmation)?|confirmation|driver|carrier) ?(?:info)?)\b/i
const declining =
  /\b(?:went (?:with|another)|going with (?:another|someone|somebody|a different)|gave (?:it|this|the load) to|(?:is |was |been |already |it['’]?s )covered|booked (?:it )?(?:with (?:another|someone|somebody|a different)|elsewhere|already)|already booked|(?:we|i)(?:['’]ll| will|['’]re going to|['’]re)? (?:pass|passing)|have to pass|no thanks|no thank you|can['’]?t (?:do|use) (?:it|that|this)|not (?:going to|gonna) work|won['’]?t work|does(?:n['’]?t| not) work|load (?:was |is |has been |got )?(?:cancel+ed|gone|dropped)|no longer (?:need|shipping|moving))/i
const dear =
  /\b(?:too (?:high|expensive|much|rich|steep)|(?:a bit|a little|pretty|way|kinda|kind of|still|quite|very) (?:high|steep|rich)|over (?:our |my |the )?budget|(?:better|cheaper|lower) (?:rate|price|quote|offer)|(?:is|was|came in) cheaper|beat (?:you|your))\b/i
const gone =
  /\b(?:cancel+ed|no longer (?:need|shipping|moving)|not (?:moving|shipping)|load (?:is |was )?(?:gone|dropped))/i
const slow =
  /\b(?:faster|sooner|earlier|quicker) (?:pickup|delivery|transit)|\b(?:transit|service) (?:is |was )?(?:too )?(?:slow|long)\b/i
/** Words that make a sentence a condition, a question or its opposite: then it is no certain answer. */
const unsure =
  /\b(?:not?|never|n['’]?t|cannot|can['’]?t|don['’]?t|didn['’]?t|isn['’]?t|won['’]?t|unless|if|once|before|until|when|whether|might|may|maybe|could|would|should|waiting|wait|pending|hold|almost|hopefully|probably|ignore)\b|\?/i
const naming =
  /\b(?:have|can (?:you|we|u)|could (?:you|we)|would (?:you|you guys)|do|need|target(?:ing)?|budget|max|at|for|pay|paying|offer(?:ing)?|counter|meet|get (?:it )?(?:to|down)|around|best|take|come (?:down )?to)\b/i

/** Amounts of a load in dollars: with a dollar sign, or whole numbers of three to five digits with a word of a rate behind them. */
const amounts =
  /(?<![\w$#/.,-])(?:\$\s?(\d{1,3}(?:,\d{3})+|\d{1,6})(\.\d\d?)?(k\b)?|([1-9]\d?,\d{3}|[1-9]\d{2,4})(\.\d\d)?(?=\s*(?:[.?!,;)]|$|(?:all[- ]?in|on|or|for|flat|is|and|max|to|dollars|bucks|usd|cad|if|but|please|pls|thanks|then|with)\b)))(?![\d/-]|,\d|\.\d)/gi
/** Numbers that are no amounts: of loads and orders, and times of day. */
const numbered =
  /\b(?:loads?|po|ref|reference|order|number|num|no|bol|pro|mc|dot|quote|pu|shipment|zip|suite|ste|unit|dock|door|ext|lane) ?[#:.]{0,2} ?\d[\w,-]{0,20}/gi
const ofTime =
  /\b(?:pick(?:ing)? ?up|picks up|deliver(?:y|s|ing)?|appt|appointment|loads? at|loading|unload|ready|open|close[sd]?|eta|hrs|hours)\b/i

const perMile = /\/ ?(?:mi|mile)\b|\b(?:per|a) mile\b|\brpm\b/i

/** The amounts of dollars in a sentence. */
function amountsIn(text: string): number[] {
  const found = [...text.replaceAll(numbered, ' ').matchAll(amounts)].flatMap(
    ([, signed, decimals = '', thousands, plain, cents = '']) => {
      if (signed === undefined && ofTime.test(text)) return []
      const whole = Number((signed ?? plain ?? '').replaceAll(',', ''))
      return [
        Math.round((whole + Number(decimals || cents || 0)) * (thousands === undefined ? 100 : 100_000)) /
          100,
      ]
    },
  )
  return [...new Set(found)].filter((amount) => amount > 0)
}

/** What one sentence says. Null if it says nothing about a quote; `unsure` if it does, and is not certain. */
function saidBy({ at, text }: Sentence): ReplyRead | 'unsure' | null {
  const words = { at, text }
  const isDear = dear.test(text)
  const named = amountsIn(text)
  const declines = declining.test(text)
  const accepts = accepting.test(text) && !declines
  if (perMile.test(text)) return 'unsure'
  if (declines) {
    if (/\?/.test(text) || /\b(?:if|unless|might|may|maybe|could|would)\b/i.test(text)) return 'unsure'
    const reason = isDear ? 'price' : gone.test(text) ? 'withdrawn' : slow.test(text) ? 'service' : null
    // "Went with another at 1,900": the rate of somebody else, which the customer does not offer.
    return { kind: 'declined', amount: null, reason, words }
  }
  if (named.length > 1) return 'unsure'
  const [amount] = named
  if (accepts) {
    if (unsure.test(text)) return 'unsure'
    return { kind: 'accepted', amount: amount ?? null, reason: null, words }
  }
  if (amount !== undefined && (isDear || naming.test(text))) {
    // A question is how a customer names a rate: "can you do 2,050?"
    const isOther =
      /\b(?:not|never|n['’]?t|cannot|can['’]?t|won['’]?t|ignore|last (?:week|month|time|year))\b/i.test(text)
    return isOther ? 'unsure' : { kind: 'countered', amount, reason: 'price', words }
  }
  if (isDear) {
    return /\b(?:not|never|isn['’]?t|if)\b|\?/i.test(text)
      ? 'unsure'
      : { kind: 'declined', amount: null, reason: 'price', words }
  }
  return null
}

/**
 * What a reply to a quote says: only its own words, and only if they are certain and do not contradict each other. It is a proposal for a
 * person, and no instruction.
 *
 * @example readReply('Too high, we have 2,050.') // { kind: 'countered', amount: 2050, reason: 'price', words: { at: 0, ... } }
 * readReply('Go ahead if you can pick up at noon') // null
 */
export function readReply(text: string): ReplyRead | null {
  const own = finished(
    ownText(text.slice(0, readLength * 4), false, function* () {
      yield
      return false
    }),
  )
  const said = own.text.slice(0, own.signedAt)
  if (said.trim().length > readLength) return null
  const found = sentencesOf(said)
    .map(saidBy)
    .filter((one) => one !== null)
  const certain = found.filter((one) => one !== 'unsure')
  if (certain.length < found.length) return null
  const countered = certain.filter(({ kind }) => kind === 'countered')
  // "Too high. Can you do 2,050?" names a rate, and so does "we can book it at 2,050".
  const rest = certain.filter(
    ({ kind, reason }) => !(countered.length > 0 && kind === 'declined' && reason === 'price'),
  )
  const [first] = countered.length > 0 ? countered : rest
  if (first === undefined) return null
  const agrees = rest.every(
    ({ kind, amount }) =>
      kind === first.kind && (amount === null || first.amount === null || amount === first.amount),
  )
  if (!agrees) return null
  const amount = rest.find((one) => one.amount !== null)?.amount ?? null
  const reason = rest.find((one) => one.reason !== null)?.reason ?? first.reason
  return { ...first, amount, reason }
}
