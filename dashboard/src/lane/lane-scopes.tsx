import { SCOPES, type ScopeCounts } from '#engine/scopes.ts'
import { type Column, count, counted, DataTable } from '../shared-ui/index.ts'
import { type FoundInsight, insightLevels } from './lane-evidence.ts'
import { QuotesLink } from './lane-section.tsx'

const scopeNames: Readonly<Record<(typeof SCOPES)[number]['scope'], string>> = {
  equipment: 'This lane, this equipment',
  corridor: 'This lane, all equipment',
  market: 'Lanes between the same two markets',
  state_pair: 'Lanes between the same two states',
  region: 'Lanes between the same two regions',
  tenant: 'All your lanes',
}

interface ScopeStep {
  readonly scope: string
  readonly name: string
  /** The history that the scope needs before it can answer. */
  readonly minimum: ScopeCounts
}

/** The engine's scopes with their names, most trusted first. */
const scopeLadder: readonly ScopeStep[] = SCOPES.map(({ scope, minimum }) => ({
  scope,
  name: scopeNames[scope],
  minimum,
}))

function minimumOf({ minimum }: ScopeStep): string {
  const { quotes, decided, lanes } = minimum
  if (quotes > 0) return counted(quotes, 'quote')
  return `${counted(decided, 'decided quote')}${lanes > 0 ? ` on ${counted(lanes, 'lane')}` : ''}`
}

/** The scopes, most trusted first, with the history in each scope and the scope that answered. */
export function LaneScopes({ insight }: { insight: FoundInsight }) {
  const levels = insightLevels(insight)
  const levelOf = (step: ScopeStep) => levels.find(({ scope }) => scope === step.scope)
  const answeredAt = scopeLadder.findIndex(({ scope }) => scope === insight.scope)
  const asksEquipment = insight.query.equipment !== null
  const verdict = (step: ScopeStep, at: number) => {
    if (step.scope === insight.scope) return '✓ answered'
    if (levelOf(step) !== undefined) return 'too few quotes'
    if (step.scope === 'equipment' && !asksEquipment) return 'no equipment selected'
    return at > answeredAt ? 'not needed' : 'not available'
  }
  const columns: Column<ScopeStep>[] = [
    {
      key: 'scope',
      header: 'Quotes of',
      wraps: true,
      cell: (step) => (step.scope === insight.scope ? <strong>{step.name}</strong> : step.name),
    },
    {
      key: 'quotes',
      header: 'Quotes',
      align: 'right',
      cell: (step) => {
        const level = levelOf(step)
        const isAsked = step.scope === 'equipment' || (step.scope === 'corridor' && !asksEquipment)
        return isAsked && level !== undefined && level.quotes > 0 ? (
          <QuotesLink chosen={{}}>{count(level.quotes)}</QuotesLink>
        ) : (
          count(level?.quotes)
        )
      },
    },
    {
      key: 'decided',
      header: 'Decided',
      align: 'right',
      cell: (step) => count(levelOf(step)?.decided),
    },
    { key: 'lanes', header: 'On lanes', align: 'right', cell: (step) => count(levelOf(step)?.lanes) },
    { key: 'needs', header: 'Minimum', cell: minimumOf },
    { key: 'verdict', header: 'Result', cell: (step) => verdict(step, scopeLadder.indexOf(step)) },
  ]
  return (
    <DataTable
      caption="Where the answer comes from, most trusted first"
      columns={columns}
      rows={scopeLadder}
      rowKey={({ scope }) => scope}
      chosen={insight.scope}
    />
  )
}
