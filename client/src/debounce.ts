/** The interface asks for 300 to 500 ms between what somebody types and what is asked for it. */
export const typingPauseMs = 400

export interface Debounced<Question, Answer> {
  /**
   * Asks once the questions pause. Resolves to undefined for a question that a later one, or `cancel`, has overtaken:
   * what it was answered, if it was sent at all, is dropped.
   */
  (question: Question): Promise<Answer | undefined>
  /** Drops the question that waits or is under way. */
  cancel(): void
}

/**
 * For fields that ask while somebody types: waits for a pause, asks for the last question only, gives up the request
 * before it, and never lets an older answer take a newer one's place.
 *
 * @param ask gets the question and a signal to hand on
 * @example const ask = debounce((offer: MarkupQuery, signal) => lanewise.markup(offer, { signal }))
 *   input.oninput = async () => { const advice = await ask(offerOf(form)); if (advice !== undefined) show(advice) }
 */
export function debounce<Question, Answer>(
  ask: (question: Question, signal: AbortSignal) => Promise<Answer>,
  pauseMs: number = typingPauseMs,
): Debounced<Question, Answer> {
  let drop: () => void = () => {}
  const debounced = (question: Question) => {
    drop()
    return new Promise<Answer | undefined>((resolve, reject) => {
      const giveUp = new AbortController()
      const timer = setTimeout(() => {
        ask(question, giveUp.signal).then(
          (answer) => resolve(giveUp.signal.aborted ? undefined : answer),
          (failure: unknown) => {
            if (giveUp.signal.aborted) resolve(undefined)
            else reject(failure)
          },
        )
      }, pauseMs)
      drop = () => {
        clearTimeout(timer)
        giveUp.abort()
        resolve(undefined)
      }
    })
  }
  return Object.assign(debounced, { cancel: () => drop() })
}
