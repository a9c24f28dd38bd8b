import {
  Alert,
  Button,
  FileButton,
  Group,
  NativeSelect,
  NumberInput,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { useEffect, useState } from 'react'
import { type BidField, bidFields, volumePeriods } from '#contract/bid-fields.ts'
import { type Answer, type CallFailed, useAnswer, useChange } from '../api/index.ts'
import { acceptedTables, CustomerInput, Heed, Section } from '../shared-ui/index.ts'
import { fieldNames, periodNames } from './bid-words.ts'

type Header = Answer<'read-bid-header'>

const failure = (error: CallFailed) =>
  error.errors.length > 0 ? error.errors.map(({ detail }) => detail).join(' ') : error.message

/** What a person chose: a column for each field, 0 for none; absent for the one that the service found. */
type Chosen = Partial<Record<BidField, number>>
const mapOf = (chosen: Chosen) =>
  Object.entries(chosen)
    .map(([field, column]) => `${field}=${column}`)
    .join(',')

/** The terms of a bid as they are typed. */
interface Terms {
  readonly name: string
  readonly customer: string
  readonly due: string
  readonly months: number | string
  /** The number of the round before; empty for a first round. */
  readonly follows: string
}
const termsAtFirst: Terms = { name: '', customer: '', due: '', months: 12, follows: '' }

/** The file of a bid, and how its columns are read: by the choices of the person, or else as the service finds them. */
function useBidFile(customer: string) {
  const [file, setFile] = useState<File | null>(null)
  const [sheet, setSheet] = useState<string | null>(null)
  const [chosen, setChosen] = useState<Chosen>({})
  const [period, setPeriod] = useState('')
  const read = useChange('read-bid-header')
  const { mutate: readHeader } = read
  const asked = {
    ...(Object.keys(chosen).length === 0 ? {} : { map: mapOf(chosen) }),
    ...(period === '' ? {} : { volume_per: period as (typeof volumePeriods)[number] }),
    ...(sheet === null ? {} : { sheet }),
  }
  const key = JSON.stringify(asked)
  useEffect(() => {
    if (file === null) return
    const query = JSON.parse(key) as typeof asked
    readHeader({ query: { ...query, ...(customer === '' ? {} : { customer }) }, body: file })
  }, [file, key, customer, readHeader])
  const choose = (next: File | null) => {
    setFile(next)
    setSheet(null)
    setChosen({})
    setPeriod('')
  }
  const chooseSheet = (next: string) => {
    setSheet(next)
    setChosen({})
  }
  const header = file === null ? undefined : read.data
  const error = file === null ? null : read.error
  return {
    file,
    choose,
    chooseSheet,
    chosen,
    setChosen,
    period,
    setPeriod,
    asked,
    header,
    error,
    isReading: read.isPending,
  }
}

/** Uploads a shipper's file: who asks, which file, and which of its columns are read. */
export function NewBid({ onAdded, onCancel }: { onAdded: (bidId: number) => void; onCancel: () => void }) {
  const [terms, setTerms] = useState(termsAtFirst)
  const { name, customer, due, months, follows } = terms
  const bidFile = useBidFile(customer)
  const { file, header, error, asked } = bidFile
  const create = useChange('create-bid')
  const missing =
    name.trim() === '' || customer.trim() === '' || file === null || (header?.problems.length ?? 1) > 0
  const send = () => {
    if (file === null) return
    const query = {
      name: name.trim(),
      customer: customer.trim(),
      file_name: file.name.slice(0, 255),
      contract_months: Number(months) || 12,
      ...(follows === '' ? {} : { follows: Number(follows) }),
      ...(due === '' ? {} : { due_at: new Date(due).toISOString() }),
      ...asked,
    }
    create.mutate({ query, body: file }, { onSuccess: ({ bid_id }) => onAdded(bid_id) })
  }
  return (
    <Section title="New bid">
      <Stack gap="md">
        <TermFields terms={terms} onTerms={(next) => setTerms({ ...terms, ...next })} />
        <FileChoice {...bidFile} />
        {error !== null && (
          <Alert color="red" variant="outline" role="alert" title="This file cannot be read">
            {failure(error)}
          </Alert>
        )}
        {header !== undefined && (
          <Columns
            header={header}
            chosen={bidFile.chosen}
            onChosen={bidFile.setChosen}
            period={bidFile.period}
            onPeriod={bidFile.setPeriod}
          />
        )}
        {create.error !== null && (
          <Alert color="red" variant="outline" role="alert" title="Nothing was saved">
            {failure(create.error)}
          </Alert>
        )}
        <Group>
          <Button onClick={send} disabled={missing} loading={create.isPending}>
            Upload and price
          </Button>
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </Section>
  )
}

function TermFields({ terms, onTerms }: { terms: Terms; onTerms: (next: Partial<Terms>) => void }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <TextInput
        label="Name"
        value={terms.name}
        onChange={(event) => onTerms({ name: event.currentTarget.value })}
        placeholder="Annual RFP 2027"
        data-autofocus
      />
      <CustomerInput
        label="Shipper"
        value={terms.customer}
        onChange={(customer) => onTerms({ customer, follows: '' })}
      />
      <TextInput
        label="Deadline"
        type="datetime-local"
        value={terms.due}
        onChange={(event) => onTerms({ due: event.currentTarget.value })}
      />
      <NumberInput
        label="Months of the contract"
        value={terms.months}
        onChange={(months) => onTerms({ months })}
        min={1}
        max={60}
        allowDecimal={false}
      />
      <RoundBefore terms={terms} onTerms={onTerms} />
    </SimpleGrid>
  )
}

/** The bids of the shipper that this one can be the next round of. */
function RoundBefore({ terms, onTerms }: { terms: Terms; onTerms: (next: Partial<Terms>) => void }) {
  const { data } = useAnswer('list-bids', {})
  const isSame = ({ customer_name: name }: { customer_name: string }) =>
    name.trim().toLowerCase() === terms.customer.trim().toLowerCase()
  const earlier = data?.bids.filter(isSame) ?? []
  if (earlier.length === 0) return null
  return (
    <NativeSelect
      label="Next round of"
      description="Lanes that are the same work keep your rates of that round."
      value={terms.follows}
      data={[
        { value: '', label: 'A first round' },
        ...earlier.map(({ bid_id, name }) => ({ value: String(bid_id), label: name })),
      ]}
      onChange={(event) => {
        const follows = event.currentTarget.value
        const before = earlier.find(({ bid_id }) => String(bid_id) === follows)
        onTerms({ follows, ...(before === undefined ? {} : { months: before.contract_months }) })
      }}
    />
  )
}

function FileChoice({
  file,
  header,
  isReading,
  choose,
  chooseSheet,
}: Pick<ReturnType<typeof useBidFile>, 'file' | 'header' | 'isReading' | 'choose' | 'chooseSheet'>) {
  return (
    <Group gap="sm">
      <FileButton accept={acceptedTables} onChange={choose}>
        {(props) => (
          <Button {...props} variant="default" loading={isReading}>
            {file === null ? "Choose the shipper's file" : 'Choose another file'}
          </Button>
        )}
      </FileButton>
      <Text size="sm">{file?.name ?? 'An Excel workbook or a CSV file, as the shipper sent it.'}</Text>
      {header !== undefined && header.sheets.length > 1 && (
        <NativeSelect
          size="xs"
          aria-label="Sheet"
          value={header.sheet ?? ''}
          data={[...header.sheets]}
          onChange={(event) => chooseSheet(event.currentTarget.value)}
        />
      )}
    </Group>
  )
}

function Columns({
  header,
  chosen,
  onChosen,
  period,
  onPeriod,
}: {
  header: Header
  chosen: Chosen
  onChosen: (chosen: Chosen) => void
  period: string
  onPeriod: (period: string) => void
}) {
  const columnOf = new Map(header.columns.map(({ field, column }) => [field, column]))
  const sample = (column: number | null | undefined) =>
    column == null ? '' : (header.rows.map((row) => row[column - 1] ?? '').find((cell) => cell !== '') ?? '')
  const names = header.header.map((name, at) => ({
    value: String(at + 1),
    label: name || `Column ${at + 1}`,
  }))
  return (
    <Stack gap="sm" component="section" aria-label="Columns">
      <Text size="sm">
        {header.is_remembered
          ? 'The columns are those of your last bid with this header.'
          : `The header is in line ${header.header_line}. Check which columns are read.`}
      </Text>
      {header.problems.length > 0 && <Heed title="Choose columns">{header.problems.join(' ')}</Heed>}
      <SimpleGrid cols={{ base: 1, sm: 2, md: 3 }}>
        {bidFields.map((field) => (
          <NativeSelect
            key={field}
            size="xs"
            label={fieldNames[field]}
            description={sample(columnOf.get(field)).slice(0, 40) || undefined}
            // Below its field, so that fields of a line stay on it.
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            value={String(columnOf.get(field) ?? 0)}
            data={[{ value: '0', label: '–' }, ...names]}
            onChange={(event) => onChosen({ ...chosen, [field]: Number(event.currentTarget.value) })}
          />
        ))}
        {columnOf.get('volume') != null && (
          <NativeSelect
            size="xs"
            label="The volume is of"
            value={period || (header.volume_per ?? '')}
            data={[
              { value: '', label: '–' },
              ...volumePeriods.map((value) => ({ value, label: periodNames[value] })),
            ]}
            onChange={(event) => onPeriod(event.currentTarget.value)}
          />
        )}
      </SimpleGrid>
    </Stack>
  )
}
