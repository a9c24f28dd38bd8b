import { Button, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useState } from 'react'
import { equipmentKinds } from '#engine/equipment.ts'
import { modes } from '#engine/load-mode.ts'
import { useSession } from '../api/index.ts'
import { count, counted, DataTable, modeNames } from '../shared-ui/index.ts'
import type { Meanings } from './import-map.tsx'
import type { ImportAnswer } from './import-words.ts'

type Word = ImportAnswer['words'][number]

/** Characters of saved meanings that are sent with a file. A map has at most 4,000. */
const sentMax = 2_000
/** Saved meanings: as many as a check lists. */
const savedMax = 100

/** The meanings that were chosen in this browser for words of the brokerage's files, newest first. */
export function useSavedMeanings() {
  const { tenant } = useSession()
  const [saved, setSaved] = useLocalStorage<readonly (readonly [string, string])[]>({
    key: `lanewise-import-words-${tenant.id}`,
    defaultValue: [],
    getInitialValueInEffect: false,
  })
  const sent: (readonly [string, string])[] = []
  let length = 0
  for (const pair of saved) {
    length += pair.join('=,').length
    if (length <= sentMax) sent.push(pair)
  }
  return {
    meanings: Object.fromEntries(sent) satisfies Meanings,
    save: (chosen: Meanings) =>
      setSaved(
        [
          ...Object.entries(chosen).filter(([, meaning]) => meaning !== ''),
          ...saved.filter(([left]) => chosen[left] === undefined),
        ].slice(0, savedMax),
      ),
  }
}

const leftOut = { value: 'skip', label: 'leave these rows out' }
const pairsOf = (values: readonly string[]) =>
  values.map((value) => ({ value, label: value.replaceAll('_', ' ') }))

const choices: Readonly<Record<string, readonly { readonly value: string; readonly label: string }[]>> = {
  outcome: [
    { value: 'won', label: 'won' },
    { value: 'lost', label: 'lost' },
    { value: 'lost price', label: 'lost: price' },
    { value: 'lost service', label: 'lost: service' },
    { value: 'lost capacity', label: 'lost: capacity' },
    { value: 'lost no_response', label: 'lost: no response' },
    { value: 'pending', label: 'pending' },
    { value: 'expired', label: 'expired' },
  ],
  equipment: equipmentKinds.map(({ code, name }) => ({ value: code, label: `${code} (${name})` })),
  rate_type: pairsOf(['spot', 'contract']),
  mode: modes.map((value) => ({ value, label: modeNames[value] })),
  cancelled: pairsOf(['yes', 'no']),
}
const ofAmounts = { currency: pairsOf(['USD', 'CAD']), basis: pairsOf(['linehaul', 'all_in']) }

/** The choices for a word, with a meaning that is not among the usual ones. */
function choicesFor({ field, meaning, saved_as }: Word) {
  const usual = choices[field] ?? (field.endsWith('currency') ? ofAmounts.currency : ofAmounts.basis)
  const isListed =
    meaning === null ||
    meaning === leftOut.value ||
    meaning === saved_as ||
    usual.some(({ value }) => value === meaning)
  return [
    saved_as === null
      ? { value: '', label: 'not known: refuse these rows' }
      : { value: saved_as, label: `${saved_as}: an equipment of its own` },
    ...usual,
    ...(isListed ? [] : [{ value: meaning, label: meaning }]),
    leftOut,
  ]
}

/**
 * The words of a file that are not known, and those that were chosen before, each with a choice of its meaning. Without `onChoose`,
 * nothing can be chosen.
 */
export function ImportMeanings({
  words,
  onChoose,
}: {
  words: ImportAnswer['words']
  /** Checks the file again with these meanings. */
  onChoose: ((meanings: Meanings) => void) | null
}) {
  const { save } = useSavedMeanings()
  const [chosen, setChosen] = useState<Meanings>({})
  if (words.length === 0) return null
  const unknown = words.filter(({ meaning, saved_as }) => meaning === null && saved_as === null)
  const own = words.filter(({ meaning, saved_as }) => meaning === null && saved_as !== null)
  const guess = ({ likely, saved_as }: Word) => (onChoose === null ? saved_as : (likely ?? saved_as))
  const meaningOf = (word: Word) => chosen[word.map] ?? word.meaning ?? guess(word) ?? ''
  const isChanged = words.some((word) => meaningOf(word) !== (word.meaning ?? ''))
  const check = (send: (meanings: Meanings) => void) => () => {
    const meanings = Object.fromEntries(words.map((word) => [word.map, meaningOf(word)]))
    save(meanings)
    send(meanings)
  }
  return (
    <Stack gap="xs" component="section" aria-label="Words">
      <div>
        <Title order={3} size="h5">
          Words
        </Title>
        <Text size="sm" c="dimmed">
          {own.length > 0 &&
            `${counted(own.length, 'code')} of equipment ${own.length === 1 ? 'is' : 'are'} not known. ${own.length === 1 ? 'It is' : 'They are'} saved as written unless you choose another equipment, and no answer for another equipment has their history. `}
          {unknown.length === 0
            ? own.length === 0 && 'The words of the file are read as chosen.'
            : `${counted(unknown.length, 'word')} of the file ${unknown.length === 1 ? 'is' : 'are'} not known. ${onChoose === null ? 'Their rows were refused. To choose what they mean, choose the file above and check it.' : 'Choose what each means, and check the file again. The choice is saved in this browser for the next file.'}`}
        </Text>
      </div>
      <WordsTable
        words={words}
        meaningOf={meaningOf}
        onMeaning={onChoose === null ? null : (map, meaning) => setChosen({ ...chosen, [map]: meaning })}
      />
      {onChoose !== null && (
        <Group>
          <Button size="xs" disabled={!isChanged} onClick={check(onChoose)}>
            Check again with these words
          </Button>
        </Group>
      )}
    </Stack>
  )
}

function WordsTable({
  words,
  meaningOf,
  onMeaning,
}: {
  words: ImportAnswer['words']
  meaningOf: (word: Word) => string
  onMeaning: ((map: string, meaning: string) => void) | null
}) {
  return (
    <div style={{ maxHeight: 300, overflowY: 'auto' }}>
      <DataTable
        caption="Words of the file"
        rows={words}
        rowKey={({ map }) => map}
        columns={[
          { key: 'column', header: 'Column', from: 'sm', cell: ({ column }) => column },
          {
            key: 'word',
            header: 'Word',
            wraps: true,
            cell: ({ word }) => (
              <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
                {word}
              </Text>
            ),
          },
          { key: 'rows', header: 'Rows', align: 'right', cell: ({ rows }) => count(rows) },
          {
            key: 'means',
            header: 'Means',
            cell: (word) => (
              <Group gap="xs" wrap="nowrap">
                <NativeSelect
                  size="xs"
                  aria-label={`Meaning of ${word.word} in ${word.column}`}
                  disabled={onMeaning === null}
                  value={meaningOf(word)}
                  onChange={(event) => onMeaning?.(word.map, event.currentTarget.value)}
                  data={choicesFor(word)}
                />
                {word.meaning === null && word.likely !== null && meaningOf(word) === word.likely && (
                  <Text size="xs" c="dimmed">
                    guessed
                  </Text>
                )}
              </Group>
            ),
          },
        ]}
      />
    </div>
  )
}
