import type { SavedOutcome } from '#engine/history.ts'
import type { OutcomeReason } from '#engine/quote-outcome.ts'
import { type Cell, foldedWords } from './cells.ts'

export interface ReadOutcome {
  readonly outcome: SavedOutcome
  readonly reason: OutcomeReason | null
}

/** The outcome words of TMSs and load boards in English, Spanish and French, as `foldedWords` folds them. */
const outcomeWords: Readonly<Record<string, readonly string[]>> = {
  won: [
    'won',
    'win',
    'w',
    'yes',
    'y',
    'true',
    '1',
    'booked',
    'book',
    'awarded',
    'accepted',
    'approved',
    'converted',
    'closed won',
    'tendered',
    'tender accepted',
    'covered',
    'assigned',
    'dispatched',
    'in transit',
    'loaded',
    'picked up',
    'delivered',
    'complete',
    'completed',
    'invoiced',
    'billed',
    'paid',
    'ganado',
    'ganada',
    'gano',
    'aceptado',
    'aceptada',
    'adjudicado',
    'adjudicada',
    'aprobado',
    'aprobada',
    'entregado',
    'entregada',
    'facturado',
    'facturada',
    'gagne',
    'gagnee',
    'accepte',
    'acceptee',
    'attribue',
    'attribuee',
    'approuve',
    'approuvee',
    'remporte',
    'remportee',
    'livre',
    'livree',
    'facture',
    'facturee',
    'asignado',
    'asignada',
    'cubierto',
    'cubierta',
    'despachado',
    'despachada',
    'en transito',
    'recogido',
    'recogida',
    'completado',
    'completada',
    'pagado',
    'pagada',
    'reservado',
    'reservada',
    'assigne',
    'assignee',
    'couvert',
    'couverte',
    'en transit',
    'ramasse',
    'ramassee',
    'termine',
    'terminee',
    'paye',
    'payee',
    'reserve',
    'reservee',
  ],
  lost: [
    'lost',
    'loss',
    'lose',
    'l',
    'no',
    'n',
    'false',
    '0',
    'declined',
    'rejected',
    'refused',
    'not awarded',
    'not accepted',
    'closed lost',
    'lost other',
    'perdido',
    'perdida',
    'rechazado',
    'rechazada',
    'declinado',
    'declinada',
    'no aceptado',
    'no aceptada',
    'no adjudicado',
    'no adjudicada',
    'perdu',
    'perdue',
    'refuse',
    'refusee',
    'rejete',
    'rejetee',
    'decline',
    'declinee',
    'non retenu',
    'non retenue',
    'non attribue',
    'non attribuee',
    'no ganado',
    'no ganada',
    'descartado',
    'descartada',
    'non gagne',
    'non gagnee',
  ],
  'lost price': [
    'lost price',
    'lost on price',
    'lost rate',
    'price',
    'too high',
    'rate too high',
    'price too high',
    'precio',
    'precio alto',
    'precio muy alto',
    'tarifa alta',
    'muy caro',
    'demasiado caro',
    'prix',
    'prix trop eleve',
    'tarif trop eleve',
    'trop cher',
    'trop chere',
  ],
  'lost service': ['lost service', 'lost on service'],
  'lost capacity': [
    'lost capacity',
    'no capacity',
    'no truck',
    'no trucks',
    'sin capacidad',
    'sin camion',
    'sin camiones',
    'pas de capacite',
    'pas de camion',
  ],
  'lost withdrawn': ['lost withdrawn', 'customer withdrew', 'no longer needed'],
  'lost no_response': [
    'no response',
    'no answer',
    'no reply',
    'lost no response',
    'unanswered',
    'sin respuesta',
    'sans reponse',
    'pas de reponse',
    'no respondio',
    'no contesto',
    'aucune reponse',
    'sans retour',
    'pas de retour',
  ],
  expired: [
    'expired',
    'quote expired',
    'lapsed',
    'stale',
    'vencido',
    'vencida',
    'expirado',
    'expirada',
    'caducado',
    'caducada',
    'expire',
    'expiree',
    'echu',
    'echue',
    'vencio',
    'perime',
    'perimee',
  ],
  pending: [
    'pending',
    'sent',
    'open',
    'quoted',
    'new',
    'draft',
    'submitted',
    'active',
    'in progress',
    'awaiting',
    'awaiting response',
    'waiting',
    'undecided',
    'unknown',
    'pendiente',
    'enviado',
    'enviada',
    'cotizado',
    'cotizada',
    'abierto',
    'abierta',
    'en espera',
    'envoye',
    'envoyee',
    'soumis',
    'soumise',
    'ouvert',
    'ouverte',
    'en attente',
    'por confirmar',
    'a confirmer',
    'en proceso',
    'en cours',
    'en revision',
    'nuevo',
    'nueva',
    'nouveau',
    'nouvelle',
    'borrador',
    'brouillon',
    'esperando respuesta',
    'en attente de reponse',
    'activo',
    'activa',
    'actif',
  ],
}

const outcomeOfWord: ReadonlyMap<string, string> = new Map(
  Object.entries(outcomeWords).flatMap(([outcome, words]) =>
    words.map((word): [string, string] => [word, outcome]),
  ),
)
/** Folded words of a cancelled load, also with who cancelled it: "Cliente canceló". */
export const cancelledForm =
  /^((el |le )?(load|customer|client|cliente|shipper|carga) (a ete |a |fue )?)?(cancell?ed|cancelo|cancelad[oa]|cancelacion|cancellation|void|voided|withdrawn|tonu|anulo|anulad[oa]|annule|annulee|annulation)\b/
const isOutcome = (word: string | undefined): word is SavedOutcome =>
  word === 'won' || word === 'lost' || word === 'pending' || word === 'expired'

/** Words that say alone that a quote was lost, and can begin a phrase that says why. `No` and `0` cannot: "No price yet". */
const lossHeads = outcomeWords.lost?.filter((word) => word.length > 3 && word !== 'false') ?? []

/**
 * Words of which each phrase after a word such as "lost" only says why. "Lost in transit" and "declined by carrier" are none, because
 * such a load may have been won; nor is "lost, rebid won".
 */
const whyWords: ReadonlySet<string> = new Set(
  [
    'a an another because by due for of on our the their to too was we were with',
    'price pricing rate rates cost costs budget market margin bid high higher low lower expensive cheaper',
    'competition competitor competitors competing incumbent other broker brokers lane',
    'capacity truck trucks coverage service no not response reply answer available',
    'a al con competencia competidor la el otro por precio tarifa alto alta caro cara muy demasiado capacidad servicio sin respuesta',
    'au autre concurrence concurrent d de du la le par profit prix tarif trop cher chere eleve elevee capacite manque pas sans reponse un',
  ].flatMap((words) => words.split(' ')),
)

/**
 * A load that somebody else got: "covered by competitor", "se fue con la competencia". A broker alone may be the brokerage itself, so it
 * must be another one.
 */
const toOthersForm =
  /^(covered|booked|awarded|given|went|gone|sold|tendered|cubiert[oa]|asignad[oa]|adjudicad[oa]|se fue|couverte?|attribuee?|confiee?|donnee?) (by|to|with|a|al|con|por|au|par) ((a|an|the|our|la|el|un|une) )?(competitors?|competition|incumbent|(other|another) (broker|brokerage)|competidor|competencia|otro broker|concurrent|concurrence|autre courtier)$/

/** The outcome of a phrase such as "lost to competition", in the form of `outcomeOfWord`; undefined for any other. */
function lossOfPhrase(folded: string): string | undefined {
  if (toOthersForm.test(folded)) return 'lost other'
  const head = lossHeads.find((word) => folded.startsWith(`${word} `))
  if (head === undefined) return undefined
  const why = folded.slice(head.length + 1)
  return why.split(' ').every((word) => whyWords.has(word)) ? `lost ${readReason(why)}` : undefined
}

/**
 * Reads an outcome. An unanswered quote is lost for lack of response; an expired one is neither won nor lost. A cancelled load
 * is rejected, because it was neither won nor lost on its rate.
 *
 * @example readOutcome('Lost - Price') // { value: { outcome: 'lost', reason: 'price' } }
 */
export function readOutcome(text: string): Cell<ReadOutcome> {
  const word = foldedWords(text)
  if (cancelledForm.test(word)) {
    return {
      wrong:
        'won, lost or pending; remove the rows of cancelled loads, which were neither won nor lost on their rate',
    }
  }
  const [outcome, reason] = (outcomeOfWord.get(word) ?? lossOfPhrase(word))?.split(' ') ?? []
  if (!isOutcome(outcome)) {
    return {
      wrong: 'a known word for won, lost, pending or expired, such as WON, LOST, SENT, EXPIRED or Booked',
    }
  }
  return { value: { outcome, reason: (reason as OutcomeReason | undefined) ?? null } }
}

const reasonWords: readonly (readonly [OutcomeReason, RegExp])[] = [
  [
    'price',
    /\b(price|pricing|rate|rates|cost|expensive|high|cheaper|precio|tarifa|car[oa]|prix|tarif|chere?)\b/,
  ],
  ['capacity', /\b(capacity|truck|trucks|coverage|capacidad|capacite)\b/],
  ['service', /\b(service|transit|late|claims?|servicio)\b/],
  ['withdrawn', /\b(withdr[ae]wn?|cancell?ed|no longer|not needed)\b/],
  [
    'no_response',
    /\b(no (response|reply|answer)|expired|unanswered|sin respuesta|sans reponse|pas de reponse)\b/,
  ],
]

/** Reads why a quote was lost. The text is free; what matches no known reason becomes `other`. */
export function readReason(text: string): OutcomeReason {
  const words = foldedWords(text)
  return reasonWords.find(([, form]) => form.test(words))?.[0] ?? 'other'
}
