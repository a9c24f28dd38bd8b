import { Badge, Button, Group, Paper, Select, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, type Body, useAnswer, useChange, useMay, useSession } from '../api/index.ts'
import {
  ButtonLink,
  type Column,
  counted,
  DataTable,
  equipmentName,
  exactMoment,
  Failed,
  Loading,
  laneName,
  Nothing,
  Page,
  PageTurner,
  Section,
  since,
  TextLink,
  useAddress,
  useSentForm,
} from '../shared-ui/index.ts'
import { AnswerMail, CustomerReply, SentAnswers } from './mail-answer.tsx'
import { MailSpeed } from './mail-speed.tsx'
import { markedPieces } from './marked-text.ts'

type Listed = Answer<'list-received-mails'>['mails'][number]
type One = Answer<'get-received-mail'>
type Reading = NonNullable<One['reading']>

const pollEveryMs = 10_000

const stateNames: Readonly<Record<Listed['state'], string>> = {
  open: 'Open',
  done: 'Done',
  ignored: 'Ignored',
}
const problemWords: Readonly<Record<NonNullable<Listed['problem']>, string>> = {
  'too-large': 'Not read: it is too large. Open it in your mail program.',
  unreadable: 'Not read: it cannot be read. Open it in your mail program.',
}
const checkWords: Readonly<Record<Listed['sender_check'], string>> = {
  passed: 'Your mail provider found that the sender is who it says.',
  failed: 'Your mail provider found that the sender is not who it says.',
  unknown: 'It is not known whether the sender is who it says.',
}

const addressOf = (id: string) => pagePaths.receivedMail.replace('{id}', id)
const subjectOf = ({ subject }: Pick<Listed, 'subject'>) => (subject === '' ? 'Without a subject' : subject)
const lanesWords = ({ lanes, questions }: Listed) =>
  lanes === 0
    ? 'No lane'
    : `${counted(lanes, 'lane')}${questions === 0 ? '' : `, ${counted(questions, 'question')}`}`

/** The mails of the mailbox, newest first. */
export function ReceivedMailsPage() {
  const { search, change } = useAddress(pagePaths.received)
  const state = stateOf(search.state)
  const query = {
    ...(state === null ? {} : { state }),
    ...(search.cursor === undefined ? {} : { cursor: search.cursor }),
  }
  const list = useAnswer('list-received-mails', { query }, { keeps: true, everyMs: pollEveryMs })
  return (
    <Page
      title="Mail"
      hint="Mails from the mailbox of the brokerage and forwarded ones, with the lanes that were read from them."
    >
      <Select
        label="State"
        data={[
          { value: 'all', label: 'All' },
          ...Object.entries(stateNames).map(([value, label]) => ({ value, label })),
        ]}
        value={state ?? 'all'}
        allowDeselect={false}
        onChange={(value) => change({ state: value ?? 'open', cursor: undefined, page: undefined })}
        maw={200}
      />
      {list.data === undefined ? (
        list.error === null ? (
          <Loading label="Loading the mails" rows={6} />
        ) : (
          <Failed
            error={list.error}
            title="The mails could not be loaded"
            retry={() => void list.refetch()}
          />
        )
      ) : list.data.mails.length === 0 ? (
        <Nothing title={state === 'open' ? 'No open mail' : 'No mail'}>
          Mails that arrive in the mailbox, or are forwarded, appear here.
        </Nothing>
      ) : (
        <>
          <DataTable
            caption="Mails, newest first"
            columns={columns}
            rows={list.data.mails}
            rowKey={({ id }) => id}
          />
          <PageTurner
            search={search}
            change={change}
            nextCursor={list.data.next_cursor}
            rows={list.data.mails.length}
            total={null}
            one="mail"
          />
        </>
      )}
      <MailSpeed />
    </Page>
  )
}

/** Open mails first: `all` is asked for. */
function stateOf(text: string | undefined): Listed['state'] | null {
  if (text === 'all') return null
  return text === 'done' || text === 'ignored' ? text : 'open'
}

const columns: Column<Listed>[] = [
  {
    key: 'at',
    header: 'Arrived',
    cell: ({ received_at: at }) => <span title={exactMoment(at)}>{since(at)}</span>,
  },
  {
    key: 'from',
    header: 'From',
    wraps: true,
    cell: ({ from, customer }) => (
      <span style={{ overflowWrap: 'anywhere' }}>
        {from.name === '' ? from.address : from.name}
        {customer !== null && (
          <Text size="xs" c="dimmed">
            {customer}
          </Text>
        )}
      </span>
    ),
  },
  {
    key: 'subject',
    header: 'Subject',
    wraps: true,
    cell: (mail) => <TextLink to={addressOf(mail.id)}>{subjectOf(mail)}</TextLink>,
  },
  {
    key: 'lanes',
    header: 'Lanes',
    from: 'sm',
    cell: (mail) => (mail.problem === null ? lanesWords(mail) : 'Not read'),
  },
  {
    key: 'who',
    header: 'Whose',
    from: 'sm',
    cell: ({ assigned_to: person }) => person?.name ?? '',
  },
  { key: 'state', header: 'State', cell: (mail) => <StateBadge mail={mail} /> },
]

function StateBadge({ mail: { state, has_quotes: hasQuotes, answered_at: answeredAt } }: { mail: Listed }) {
  return (
    <Badge variant={state === 'open' ? 'filled' : 'default'} size="sm" tt="none">
      {answeredAt !== null ? 'Answered' : hasQuotes ? 'Quoted' : stateNames[state]}
    </Badge>
  )
}

/** One mail with its lanes. */
export function ReceivedMailPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const { data, error, refetch } = useAnswer('get-received-mail', { params: { id } }, { staleMs: 30_000 })
  if (data === undefined) {
    return (
      <Page title="Mail">
        {error === null ? (
          <Loading label="Loading the mail" rows={6} />
        ) : (
          <Failed error={error} title="The mail could not be loaded" retry={() => void refetch()} />
        )}
      </Page>
    )
  }
  return <OneMail key={data.mail.id} one={data} />
}

function OneMail({ one }: { one: One }) {
  const { mail, text, tables, attachments, reading, lane_refs: quotes, thread } = one
  return (
    <Page title={subjectOf(mail)} actions={<Actions mail={mail} reading={reading} />}>
      <Stack gap={2} style={{ overflowWrap: 'anywhere' }}>
        <Text size="sm">
          From {mail.from.name} &lt;{mail.from.address}&gt;, {exactMoment(mail.received_at)}{' '}
          <StateBadge mail={mail} />
        </Text>
        <Text size="sm" c={mail.sender_check === 'failed' ? 'red' : 'dimmed'}>
          {checkWords[mail.sender_check]}
        </Text>
        {mail.problem !== null && <Text size="sm">{problemWords[mail.problem]}</Text>}
      </Stack>
      {one.reply !== null && <CustomerReply reply={one.reply} />}
      <Owner mail={mail} />
      {quotes.length > 0 && (
        <Section title="Quotes">
          <Group gap="sm">
            {quotes.map((ref) => (
              <TextLink key={ref} to={pagePaths.quote.replace('{lane_ref}', encodeURIComponent(ref))}>
                {ref}
              </TextLink>
            ))}
          </Group>
        </Section>
      )}
      {reading !== null && <Lanes reading={reading} />}
      <AnswerMail one={one} />
      <SentAnswers answers={one.answers} />
      <Section title="Text" hint="What was read is marked.">
        {text === null ? (
          <Text size="sm">
            {mail.problem === null ? 'The text is not kept any more.' : 'It has no text here.'}
          </Text>
        ) : (
          <Marked text={text} reading={reading} part="text" />
        )}
      </Section>
      {tables.map((table, nth) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a table is its place in the mail
        <Section key={nth} title={`Table ${nth + 1}`}>
          <Marked text={table} reading={reading} part={nth} />
        </Section>
      ))}
      {attachments.some(({ unread }) => unread !== null) && (
        <Section title="Files that were not read">
          <ul style={{ margin: 0 }}>
            {attachments.flatMap(({ name, unread }) =>
              unread === null ? [] : [<li key={name}>{`${name}: ${unread}`}</li>],
            )}
          </ul>
        </Section>
      )}
      {thread.length > 1 && <Thread thread={thread} open={mail.id} />}
    </Page>
  )
}

/** Changes a mail, and shows the change. */
function useMailChange(id: string) {
  const change = useChange('update-received-mail')
  const queries = useQueryClient()
  const reread = () => void queries.invalidateQueries()
  return {
    change,
    reread,
    send: (body: Body<'update-received-mail'>) =>
      change.mutate({ params: { id }, body }, { onSuccess: reread }),
  }
}

function Actions({ mail, reading }: { mail: Listed; reading: Reading | null }) {
  const mayQuote = useMay('member')
  const { change, send } = useMailChange(mail.id)
  if (!mayQuote) return null
  const to = (state: Listed['state'], words: string) =>
    mail.state !== state && (
      <Button variant="default" loading={change.isPending} onClick={() => send({ state })}>
        {words}
      </Button>
    )
  return (
    <>
      {to('open', 'Open again')}
      {to('done', 'Done')}
      {to('ignored', 'Ignore')}
      {reading !== null && (
        <ButtonLink to={pagePaths.desk} query={{ mail: mail.id }}>
          Make quotes
        </ButtonLink>
      )}
      {change.error !== null && <Failed error={change.error} title="The mail was not changed" />}
    </>
  )
}

/** Whose the mail is, and which customer it is from. */
function Owner({ mail }: { mail: Listed }) {
  const { user } = useSession()
  const mayQuote = useMay('member')
  const { change, send, reread } = useMailChange(mail.id)
  const { form, submit, input } = useSentForm(change, {
    fields: { customer: mail.customer ?? '' },
    send: ({ customer }) => ({ params: { id: mail.id }, body: { customer: customer.trim() } }),
    done: reread,
  })
  const customer = form.values.customer.trim()
  const who = mail.assigned_to
  return (
    <Group align="flex-end" gap="lg">
      <Stack gap={4}>
        <Text size="sm">{who === null ? 'Nobody answers it yet.' : `${who.name} answers it.`}</Text>
        {mayQuote && who?.user_id !== user.id && (
          <Button variant="default" size="xs" onClick={() => send({ assigned_to: user.id })}>
            I answer it
          </Button>
        )}
      </Stack>
      {mayQuote ? (
        <form onSubmit={submit} aria-label="Customer of the mail">
          <Group align="flex-end" gap="xs">
            <TextInput label="Customer" autoComplete="off" {...input('customer')} />
            <Button
              type="submit"
              variant="default"
              loading={change.isPending}
              disabled={customer === '' || customer === mail.customer}
            >
              Set the customer
            </Button>
          </Group>
        </form>
      ) : (
        <Text size="sm">Customer: {mail.customer ?? 'not known'}</Text>
      )}
    </Group>
  )
}

function Lanes({ reading: { lanes, lanes_left: left, questions, deadline } }: { reading: Reading }) {
  if (lanes.length === 0 && questions.length === 0) return null
  const whole = questions.filter(({ lane }) => lane === null)
  return (
    <Section title="Lanes">
      <Stack gap="xs">
        {lanes.map((lane, nth) => {
          const facts = [
            lane.equipment === null ? null : equipmentName(lane.equipment.value),
            lane.pickup === null ? null : `pickup ${lane.pickup.value}`,
            lane.weight === null ? null : `${lane.weight.value.toLocaleString('en-US')} lb`,
            lane.temperature?.value ?? null,
          ].filter((fact) => fact !== null)
          const asked = questions.filter((question) => question.lane === nth)
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a lane is its place in the mail
            <Paper key={nth} withBorder p="xs">
              <Title order={3} size="sm">
                {laneName(lane.origin?.value ?? '?', lane.destination?.value ?? '?')}
              </Title>
              {facts.length > 0 && <Text size="sm">{facts.join(', ')}</Text>}
              {asked.map(({ field, detail }) => (
                <Text size="sm" key={`${field} ${detail}`}>
                  To decide: {detail}.
                </Text>
              ))}
            </Paper>
          )
        })}
        {left > 0 && <Text size="sm">And {counted(left, 'more lane')}.</Text>}
        {deadline !== null && <Text size="sm">Answer due {deadline.value}.</Text>}
        {whole.map(({ field, detail, options }) => (
          <Text size="sm" key={`${field} ${detail}`}>
            To decide: {detail}
            {options.length > 0 && `: ${options.join(', ')}`}.
          </Text>
        ))}
      </Stack>
    </Section>
  )
}

function Marked({ text, reading, part }: { text: string; reading: Reading | null; part: 'text' | number }) {
  return (
    <Paper withBorder p="sm">
      <Text
        component="pre"
        size="sm"
        m={0}
        ff="inherit"
        style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', tabSize: 4 }}
      >
        {markedPieces(text, reading, part).map(({ at, text: piece, isRead }) =>
          isRead ? <mark key={at}>{piece}</mark> : <span key={at}>{piece}</span>,
        )}
      </Text>
    </Paper>
  )
}

function Thread({ thread, open }: { thread: readonly Listed[]; open: string }) {
  return (
    <Section title="Thread">
      <Stack component="ul" gap={4} m={0} p={0} style={{ listStyle: 'none' }}>
        {thread.map((mail) => (
          <li key={mail.id}>
            <Text size="sm">
              {exactMoment(mail.received_at)}, {mail.from.name === '' ? mail.from.address : mail.from.name}:{' '}
              {mail.id === open ? (
                <strong>{subjectOf(mail)}</strong>
              ) : (
                <TextLink to={addressOf(mail.id)}>{subjectOf(mail)}</TextLink>
              )}
            </Text>
          </li>
        ))}
      </Stack>
    </Section>
  )
}
