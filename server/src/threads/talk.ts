import type { MessagePort, Worker } from 'node:worker_threads'
import { type ProblemCode, problem } from '#contract/errors.ts'
import { asProblem } from '../error-answer.ts'

/** What a thread answers when another one asks: functions by name, of values that can be copied. */
export type Handlers = Readonly<Record<string, (...values: never[]) => unknown>>

/** A thread at the other end. */
export interface Other {
  /** Asks for an answer. Throws what the other threw, or that it has ended. */
  ask<T>(name: string, ...values: unknown[]): Promise<T>
  /** Tells without waiting. */
  tell(name: string, ...values: unknown[]): void
  /** Fails what is still being asked: nobody is there any more. */
  ended(): void
}

interface Failure {
  readonly code: ProblemCode
  readonly detail: string
  readonly headers: Readonly<Record<string, string>>
  readonly members: Readonly<Record<string, unknown>>
  readonly cause: string
}

type Message =
  | { readonly ask: string; readonly id: number | null; readonly values: readonly unknown[] }
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly failure: Failure }

/** Ties two threads together: each asks the other, and answers what it is asked. */
export function talk(port: MessagePort | Worker, handlers: Handlers): Other {
  const asked = new Map<number, { resolve: (value: never) => void; reject: (error: unknown) => void }>()
  let lastId = 0
  const send = (message: Message) => port.postMessage(message)

  async function answer({ ask, id, values }: Extract<Message, { ask: string }>): Promise<void> {
    try {
      const handler = handlers[ask]
      if (handler === undefined) throw new Error(`Nobody answers ${ask}.`)
      const found = await handler(...(values as never[]))
      if (id !== null) send({ id, answer: found })
    } catch (error) {
      if (id !== null) send({ id, failure: failureOf(error) })
    }
  }

  port.on('message', (message: Message) => {
    if ('ask' in message) {
      void answer(message)
      return
    }
    const waiting = asked.get(message.id)
    asked.delete(message.id)
    if ('failure' in message) waiting?.reject(errorOf(message.failure))
    else waiting?.resolve(message.answer as never)
  })

  return {
    ask<T>(name: string, ...values: unknown[]): Promise<T> {
      const id = ++lastId
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      asked.set(id, { resolve, reject })
      send({ ask: name, id, values })
      return promise
    },
    tell: (name, ...values) => send({ ask: name, id: null, values }),
    ended() {
      for (const { reject } of asked.values()) reject(new Error('The other thread has ended.'))
      asked.clear()
    },
  }
}

/** As it would be answered: the other thread answers it as its own. */
function failureOf(error: unknown): Failure {
  const { code, message, headers, members, cause } = asProblem(error)
  return {
    code,
    detail: message,
    headers,
    members,
    cause: cause instanceof Error ? (cause.stack ?? cause.message) : cause === undefined ? '' : String(cause),
  }
}

function errorOf({ code, detail, headers, members, cause }: Failure): Error {
  return problem(code, detail, { headers, members, ...(cause === '' ? {} : { cause: new Error(cause) }) })
}
