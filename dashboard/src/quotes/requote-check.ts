import { useDebouncedValue } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { typingPauseMs } from '#client/debounce.ts'
import type { Lane } from '#contract/lane.ts'
import { type Body, CallFailed, call, useAnswer } from '../api/index.ts'
import { type KeptTerms, onOwnTerms, termsBody } from '../shared-ui/index.ts'

/** A requote as typed: dollars on its own terms; null while the rate cannot be read, or without a cost. */
interface AskedRequote {
  readonly lane: Lane
  readonly rate: number | null
  readonly cost: number | null
  readonly terms: KeptTerms
}

type AdviceBody = Body<'advise-lanes'>

function adviceBody({ lane, rate, cost, terms }: AskedRequote): AdviceBody {
  return {
    customer: lane.quoted_customer_name,
    lanes: [
      {
        origin: lane.origin,
        destination: lane.destination,
        equipment: lane.equipment,
        ...(rate === null ? {} : { quoted_rate: rate }),
        ...(cost === null || cost <= 0 ? {} : { estimated_cost: cost }),
        ...termsBody(terms),
      },
    ],
  }
}

/** The rate to quote by the rules, or else the one that earns most on average, on the terms of the requote; null if none is known. */
export function useSuggestedRate(asked: AskedRequote): number | null {
  const [settled] = useDebouncedValue(JSON.stringify(adviceBody({ ...asked, rate: null })), typingPauseMs)
  const { data } = useAnswer(
    'advise-lanes',
    { body: JSON.parse(settled) as AdviceBody },
    { staleMs: 60_000, comesBack: true },
  )
  const [result] = data?.results ?? []
  if (result?.status !== 200 || result.rules.rate === null || result.conversion === null) return null
  return onOwnTerms(result.conversion, result.rules.rate)
}

/** How long saving waits for the check of the rate. */
const checkWaitMs = 6_000

/** The check of a rate before it is saved. */
interface RequoteCheck {
  /** Why to check the rate; empty if there is nothing to confirm. */
  readonly reasons: readonly string[]
  readonly isRunning: boolean
  /** Whether the reasons are about this requote, so that the next `before` saves it. */
  readonly isAsking: (asked: AskedRequote) => boolean
  /** Checks a requote, then saves it. If there are reasons to check its rate, it saves at the second call with the same values. */
  readonly before: (asked: AskedRequote, save: () => void) => Promise<void>
}

const nothing = { about: '', reasons: [] as readonly string[] }

export function useRequoteCheck(): RequoteCheck {
  const queries = useQueryClient()
  const [found, setFound] = useState(nothing)
  const [isRunning, setRunning] = useState(false)
  const keyOf = (asked: AskedRequote) => JSON.stringify(adviceBody(asked))
  const reasonsFor = async (asked: AskedRequote): Promise<readonly string[]> => {
    const body = adviceBody(asked)
    const signal = AbortSignal.timeout(checkWaitMs)
    try {
      const { results } = await queries.fetchQuery({
        queryKey: ['advise-lanes', { body }],
        queryFn: () => call('advise-lanes', { body, signal }),
        staleTime: 60_000,
      })
      const [result] = results
      return result?.status === 200 ? result.warnings.map(({ detail }) => detail) : []
    } catch (error) {
      // Without a connection, the save fails, too, and says why.
      if (error instanceof CallFailed && (!error.isTemporary || error.code === 'offline')) return []
      return [
        'It could not be compared with cost and going rate, because the service did not answer in time.',
      ]
    }
  }
  return {
    reasons: found.reasons,
    isRunning,
    isAsking: (asked) => found.reasons.length > 0 && found.about === keyOf(asked),
    before: async (asked, save) => {
      if (isRunning) return
      const about = keyOf(asked)
      if (found.about !== about) {
        setRunning(true)
        const reasons = await reasonsFor(asked)
        setRunning(false)
        setFound({ about, reasons })
        if (reasons.length > 0) return
      }
      save()
    },
  }
}
