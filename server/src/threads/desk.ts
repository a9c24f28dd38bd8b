import type { CallLog, LastMinuteCounts, Parts } from '../endpoints/call.ts'
import type { SignInAttempt } from '../security/sign-in-back-off.ts'
import type { Handlers, Other } from './talk.ts'

/**
 * What one thread of a process keeps for all of them, because it must be one: the attempts at passwords, the sign-ups, the
 * imports and backtests that are under way, the calls of the last minute. The first thread keeps it; the others ask.
 */
export interface Desk extends Pick<Parts, 'signInAttempts' | 'signUps' | 'imports' | 'backtests'> {
  lastMinute: CallLog['lastMinute']
}

type Values<Name extends keyof Asked> = Parameters<Asked[Name]>

/** What may be asked of the first thread, and its answers. */
interface Asked {
  begin(account: string, network: string, now: number): { id: number; waitMs: number }
  failed(id: number): void
  succeeded(id: number): void
  end(id: number): void
  signUp(...values: Parameters<Desk['signUps']['admit']>): Awaited<ReturnType<Desk['signUps']['admit']>>
  reserve(...values: Parameters<Desk['imports']['reserve']>): ReturnType<Desk['imports']['reserve']>
  release(place: number): void
  startImport(...values: Parameters<Desk['imports']['start']>): void
  startUndo(...values: Parameters<Desk['imports']['startUndo']>): void
  backtest(...values: Parameters<Desk['backtests']['look']>): ReturnType<Desk['backtests']['look']>
  lastMinute(...values: Parameters<Desk['lastMinute']>): LastMinuteCounts
}

/** The first thread's answers to one other thread. `gone` is for when that thread has ended. */
export function deskAnswers(desk: Desk): { readonly handlers: Handlers; gone(): void } {
  const attempts = new Map<number, SignInAttempt>()
  let lastId = 0
  const end = (id: number) => {
    attempts.get(id)?.end()
    attempts.delete(id)
  }
  const places = new Set<number>()
  const release = (place: number) => {
    places.delete(place)
    desk.imports.release(place)
  }
  const handlers = {
    async begin(...[account, network, now]: Values<'begin'>) {
      const attempt = await desk.signInAttempts.begin(account, network, now)
      const id = ++lastId
      if (attempt.waitMs === 0) attempts.set(id, attempt)
      return { id, waitMs: attempt.waitMs }
    },
    failed: (...[id]: Values<'failed'>) => attempts.get(id)?.failed(),
    succeeded: (...[id]: Values<'succeeded'>) => attempts.get(id)?.succeeded(),
    end: (...[id]: Values<'end'>) => end(id),
    signUp: (...values: Values<'signUp'>) => desk.signUps.admit(...values),
    async reserve(...values: Values<'reserve'>) {
      const place = await desk.imports.reserve(...values)
      if (typeof place === 'number') places.add(place)
      return place
    },
    release: (...[place]: Values<'release'>) => release(place),
    startImport: (...values: Values<'startImport'>) => desk.imports.start(...values),
    startUndo: (...values: Values<'startUndo'>) => desk.imports.startUndo(...values),
    backtest: (...values: Values<'backtest'>) => desk.backtests.look(...values),
    lastMinute: (...values: Values<'lastMinute'>) => desk.lastMinute(...values),
  } satisfies Handlers & Record<keyof Asked, unknown>
  return {
    handlers,
    gone() {
      for (const id of [...attempts.keys()]) end(id)
      for (const place of [...places]) release(place)
    },
  }
}

/** The desk as every other thread sees it. */
export function deskOf(first: Other): Desk {
  const ask = <Name extends keyof Asked>(name: Name, ...values: Values<Name>) =>
    first.ask<Awaited<ReturnType<Asked[Name]>>>(name, ...values)
  const tell = <Name extends keyof Asked>(name: Name, ...values: Values<Name>) => first.tell(name, ...values)
  const nothingToDrain = async () => {}
  return {
    signInAttempts: {
      async begin(account, network, now) {
        const { id, waitMs } = await ask('begin', account, network, now)
        return {
          waitMs,
          failed: () => tell('failed', id),
          succeeded: () => tell('succeeded', id),
          end: () => tell('end', id),
        }
      },
    },
    signUps: { admit: (...values) => ask('signUp', ...values) },
    imports: {
      reserve: (...values) => ask('reserve', ...values),
      release: (place) => tell('release', place),
      start: (...values) => tell('startImport', ...values),
      startUndo: (...values) => tell('startUndo', ...values),
      drain: nothingToDrain,
    },
    backtests: { look: (...values) => ask('backtest', ...values), drain: nothingToDrain },
    lastMinute: (...values) => ask('lastMinute', ...values),
  }
}
