import type { Lane } from '#contract/lane.ts'

type Listed = Pick<Lane, 'lane_ref' | 'request_id' | 'created_at'>

/**
 * Lists by time with the lanes of one request in the order in which they were entered. They were quoted at the same moment, and the
 * service orders those by their random ids.
 *
 * @example inRequestOrder([third, first, second], 'newest') // [first, second, third]
 */
export function inRequestOrder<Lane extends Listed>(lanes: readonly Lane[], sort: string): readonly Lane[] {
  if (sort !== 'newest' && sort !== 'oldest') return lanes
  const numberOf = ({ lane_ref }: Lane) => Number(lane_ref.split('-')[1] ?? 0)
  const ordered: Lane[] = []
  for (let start = 0; start < lanes.length; ) {
    const first = lanes[start]
    let end = start + 1
    while (
      lanes[end]?.request_id === first?.request_id &&
      lanes[end]?.created_at === first?.created_at &&
      end < lanes.length
    )
      end++
    ordered.push(...lanes.slice(start, end).sort((one, other) => numberOf(one) - numberOf(other)))
    start = end
  }
  return ordered
}
