/** The pause before a request while a person types. The interface recommends 300 to 500 ms. */
export const typingPauseMs = 400

export interface Debounced<Question, Answer> {
  /**
   * Sends the query after a pause. Resolves to undefined if a later query or `cancel` replaced this one; its
   * response, if any, is discarded.
   */
  (question: Question): Promise<Answer | undefined>
  /** Discards the query that is waiting or in progress. */
  cancel(): void
}

/**
 * Debounces queries while a person types: waits for a pause, sends only the last query, aborts the request before it,
 * and never lets an older response replace a newer one.
 *
 * @param ask receives the query and a signal to pass to the request
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
      const controller = new AbortController()
      const timer = setTimeout(() => {
        ask(question, controller.signal).then(
          (answer) => resolve(controller.signal.aborted ? undefined : answer),
          (failure: unknown) => {
            if (controller.signal.aborted) resolve(undefined)
            else reject(failure)
          },
        )
      }, pauseMs)
      drop = () => {
        clearTimeout(timer)
        controller.abort()
        resolve(undefined)
      }
    })
  }
  return Object.assign(debounced, { cancel: () => drop() })
}
