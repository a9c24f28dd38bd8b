import { basename } from 'node:path'
import type { Answer, Body } from '#client/sent.ts'
import { readBytes } from './booking-commands.ts'
import { serviceClient, sessionClient } from './clients.ts'
import { type AddCommands, given, withExample } from './command.ts'
import { CommandFailed } from './exits.ts'
import { money, table } from './show.ts'

type Lane = Answer<'integration-list-bid-lanes'>['lanes'][number]
type State = Body<'push-bid-awards'>['awards'][number]['state']

/** Reads the number of a bid. @throws CommandFailed otherwise: the error of the service would name a JSON field */
function bidIdOf(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) {
    throw new CommandFailed(
      2,
      `The bid must be its number, as "lanewise bid list" shows it; it is "${text}".`,
    )
  }
  return Number(text)
}

function numberOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text.replaceAll(/[$,]/g, ''))
  if (text.trim() === '' || !Number.isFinite(value)) {
    throw new CommandFailed(2, `${option} must be a number; it is "${text}".`)
  }
  return value
}

const awardText = ({ award }: Lane) =>
  award === null ? null : award.rate === null ? award.state : `${award.state} ${money(award.rate)}`

const addReads: AddCommands = (bid, action) => {
  bid
    .command('list')
    .summary('list bids with stage, value and deadline')
    .addHelpText('after', withExample('lanewise bid list'))
    .action(
      action(async (run) => {
        const answer = await serviceClient(run.options, run, 'token').call(
          'integration-list-bids',
          {},
          { signal: run.signal },
        )
        const rows = answer.bids.map((one) => [
          one.bid_id,
          one.name,
          one.customer_name,
          one.stage,
          one.lanes,
          money(one.value),
          one.due_at?.slice(0, 16).replace('T', ' ') ?? null,
        ])
        run.answer(answer, table(['bid', 'name', 'customer', 'stage', 'lanes', 'value', 'due (UTC)'], rows))
      }),
    )
  bid
    .command('lanes <bid>')
    .summary('the lanes of a bid with rates and awards')
    .addHelpText('after', withExample('lanewise bid lanes 3'))
    .action(
      action(async (run, [text = '']) => {
        const lanewise = serviceClient(run.options, run, 'token')
        const bid_id = bidIdOf(text)
        const lanes: Lane[] = []
        for (let after: number | null = 0; after !== null; ) {
          const page: Answer<'integration-list-bid-lanes'> = await lanewise.call(
            'integration-list-bid-lanes',
            { params: { bid_id }, query: { after } },
            { signal: run.signal },
          )
          lanes.push(...page.lanes)
          after = page.next_after
        }
        const rows = lanes.map((one) => [
          one.lane,
          one.lane_id,
          one.origin ?? one.origin_sent,
          one.destination ?? one.destination_sent,
          one.equipment,
          one.loads,
          money(one.rate),
          awardText(one),
        ])
        run.answer(
          { lanes },
          table(['lane', 'id', 'origin', 'destination', 'equipment', 'loads', 'rate', 'award'], rows),
        )
      }),
    )
}

const addAwards: AddCommands = (bid, action) => {
  bid
    .command('award <bid> <lane_id> <state>')
    .summary('say what became of a lane: awarded, lost or open, signed')
    .option('--rate <dollars>', 'the rate of the award; that of the lane without it')
    .option('--loads <number>', 'the loads over the contract; those of the lane without it')
    .addHelpText('after', withExample('lanewise bid award 3 H-001 awarded --rate 2150 --loads 48'))
    .action(
      action<{ rate?: string; loads?: string }>(async (run, [text = '', lane_id = '', state = ''], own) => {
        const rate = numberOf('--rate', own.rate)
        const loads = numberOf('--loads', own.loads)
        // The service checks the words.
        const award = { lane_id, state: state as State, ...given({ rate, loads }) }
        const answer = await serviceClient(run.options, run, 'token and secret').call(
          'push-bid-awards',
          { body: { bid_id: bidIdOf(text), awards: [award] } },
          { signal: run.signal },
        )
        const [result] = answer.results
        if (result !== undefined && result.status !== 200) run.exitWith(6)
        run.answer(
          answer,
          result === undefined || result.status !== 200 ? (result?.detail ?? '') : result.result,
        )
      }),
    )
  bid
    .command('awards <bid> <file>')
    .summary("take the awards of a shipper's file")
    .description(
      'Reads a CSV text or an Excel workbook: lanes by their ID, or by places and equipment, and a column such as Award or Status. One wrong line refuses the file, and nothing changes.',
    )
    .option('--others-lost', 'open lanes that the file does not name are lost')
    .addHelpText('after', withExample('lanewise bid awards 3 letter.xlsx --others-lost'))
    .action(
      action<{ othersLost?: boolean }>(async (run, [text = '', name = ''], { othersLost }) => {
        const body = new Blob([await readBytes(run, name)])
        const answer = await sessionClient(run.options, run).call(
          'set-bid-awards-of-file',
          {
            params: { bid_id: bidIdOf(text) },
            query: { file_name: basename(name).slice(0, 255), others: othersLost === true ? 'lost' : 'open' },
            body,
          },
          { signal: run.signal, isRepeatable: true },
        )
        const { changed, awarded, lost } = answer
        run.answer(answer, `${changed} changed; ${awarded} awarded, ${lost} lost`)
      }),
    )
}

/** Commands for bids. */
export const addBidCommands: AddCommands = (program, action) => {
  const bid = program
    .command('bid')
    .summary('bids: list, lanes, award, awards')
    .addHelpText('after', withExample('lanewise bid list', 'lanewise bid awards 3 letter.xlsx'))
  for (const add of [addReads, addAwards]) add(bid, action)
}
