import './type-ahead.css'
import { Combobox, InputBase, type InputBaseProps, useCombobox, VisuallyHidden } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconHourglass } from '@tabler/icons-react'
import {
  type ComponentPropsWithoutRef,
  type FocusEvent,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useEffectEvent,
  useId,
  useState,
} from 'react'
import { flushSync } from 'react-dom'
import { counted } from './formats.ts'
import { fieldSettled, fieldWaits } from './settled-fields.ts'

const typingPauseMs = 120
/** How long Enter or Tab waits for suggestions before the text stays as typed. */
const acceptancePatienceMs = 10_000

/** The text that suggestions are asked for, a moment behind the text in the field. */
interface Asking {
  readonly asked: string
  /** Somebody has been in the field. A page may hold a hundred fields, and only one of them asks. */
  readonly isEntered: boolean
  readonly enter: () => void
  /** Asks for this text now, without waiting for a pause in typing. */
  readonly hurry: (text: string) => void
}

export function useAsking(value: string): Asking {
  const text = value.trim()
  const [isEntered, setEntered] = useState(false)
  const [paused] = useDebouncedValue(text, typingPauseMs)
  const [hurried, hurry] = useState<string | null>(null)
  return { asked: hurried === text ? text : paused, isEntered, enter: () => setEntered(true), hurry }
}

export interface Option {
  /** What the field says once the option is taken. No two options have the same. */
  readonly value: string
  readonly label?: ReactNode
}

/** @example typedOption('Smallville, TX').label // 'Use “Smallville, TX” as typed' */
export function typedOption(text: string): Option {
  return { value: text, label: `Use “${text}” as typed` }
}

interface Suggestions {
  /** `current` answers `asking.asked`; while `loading`, the options are those of an older text. */
  readonly state: 'current' | 'loading' | 'failed'
  readonly options: readonly Option[]
  /** The value of the option that Enter and Tab take; null where they take none. */
  readonly taken: string | null
  /** How many times the question has failed. */
  readonly failures: number
  /** Asks again after a failure. */
  readonly retry: () => void
}

/** What a query for suggestions has to offer. */
export function suggestionsOf<Data>(
  query: {
    readonly data: Data | undefined
    readonly isPlaceholderData: boolean
    readonly isError: boolean
    readonly errorUpdateCount: number
    readonly refetch: () => unknown
  },
  read: (data: Data) => Pick<Suggestions, 'options' | 'taken'>,
): Suggestions {
  const { data, isPlaceholderData, isError, errorUpdateCount, refetch } = query
  return {
    state: data !== undefined && !isPlaceholderData ? 'current' : isError ? 'failed' : 'loading',
    ...(data === undefined ? { options: [], taken: null } : read(data)),
    failures: errorUpdateCount,
    retry: () => void refetch(),
  }
}

export type FieldProps = Omit<InputBaseProps, 'description' | 'rightSection'> &
  Omit<
    ComponentPropsWithoutRef<'input'>,
    'id' | 'value' | 'onChange' | 'onBlur' | 'onClick' | 'size' | 'style'
  > & {
    readonly value: string
    readonly onChange: (text: string) => void
    /** The text is final for now: an option was taken, Enter was pressed, or the person left the field. */
    readonly onDone?: (text: string) => void
    readonly openOnFocus?: boolean
  }

interface TypeAheadProps extends FieldProps {
  readonly asking: Asking
  readonly suggestions: Suggestions
  /** Whether a text can be left as it is without looking at suggestions. Absent where any text is legal. */
  readonly isComplete?: (text: string) => boolean
  /** Shown where nothing is suggested for the text. */
  readonly emptyText?: string
}

/** Whether the text in the field still is to be replaced by a suggestion. It counts only for that very text. */
interface Decision {
  readonly text: string
  readonly isMade: boolean
}

/** Enter or Tab waits for the suggestions for this text. */
interface Wait {
  readonly text: string
  /** The failures before the key was pressed, which say nothing about the question that it asked again. */
  readonly failuresBefore: number
}

/**
 * A text field that suggests values while one types. Every field that does so is this one.
 *
 * Enter and Tab do the same: they take the highlighted option, and only from the list that answers the text now in the
 * field. If that list is still on its way, they wait for it, also after the focus has moved on; typing again cancels the
 * wait, and a failure leaves the text as typed. While a list of an older text is on screen, it is dimmed and nothing in it
 * is highlighted; a click still takes exactly the option that was clicked.
 */
export function TypeAhead({
  value,
  onChange,
  onDone,
  openOnFocus = true,
  asking,
  suggestions,
  isComplete,
  emptyText,
  onFocus,
  onKeyDown,
  ...field
}: TypeAheadProps) {
  const id = useId()
  const text = value.trim()
  const [isOpen, setOpen] = useState(false)
  const [decision, setDecision] = useState<Decision | null>(null)
  const [pointed, setPointed] = useState<{ text: string; index: number } | null>(null)
  const [wait, setWait] = useState<Wait | null>(null)
  const [failure, setFailure] = useState<{ text: string; words: string } | null>(null)
  const [takenLate, setTakenLate] = useState('')

  const { options, retry } = suggestions
  const isCurrent = asking.asked === text && suggestions.state === 'current'
  const hasFailed = asking.asked === text && suggestions.state === 'failed'
  const mayStay = isComplete === undefined || isComplete(text)
  const isDecided = text === '' || (decision?.text === text ? decision.isMade : mayStay)
  const isWaiting = wait?.text === text
  const taken = options.findIndex((option) => option.value === suggestions.taken)
  // Nothing of an older list is ever highlighted.
  const active = !isCurrent ? -1 : pointed?.text === text ? pointed.index : isDecided ? -1 : taken
  const failedWords = failure?.text === text ? failure.words : null

  const finish = (final: string) => {
    setDecision({ text: final.trim(), isMade: true })
    setWait(null)
    setOpen(false)
    onDone?.(final)
  }
  const take = (option: string) => {
    if (option !== value) onChange(option)
    finish(option)
  }
  const giveUp = (why: string) => {
    setWait(null)
    setDecision({ text, isMade: false })
    setFailure({ text, words: `${why} “${text}” stays as typed.` })
  }

  const answerWait = useEffectEvent(() => {
    if (!isWaiting) fieldSettled(id)
    else if (isCurrent) {
      const option = options[taken]
      if (option === undefined) finish(value)
      else {
        take(option.value)
        setTakenLate(`${option.value} taken.`)
      }
    } else if (hasFailed && suggestions.failures !== wait.failuresBefore) {
      giveUp('Suggestions did not load.')
    }
  })
  useEffect(() => answerWait())
  const endWait = useEffectEvent(() => giveUp('Suggestions took too long.'))
  useEffect(() => {
    if (!isWaiting) return
    const patience = setTimeout(() => endWait(), acceptancePatienceMs)
    return () => clearTimeout(patience)
  }, [isWaiting])
  useEffect(() => () => fieldSettled(id), [id])

  const accept = (event: KeyboardEvent) => {
    const isPlainEnter = event.key === 'Enter' && !event.ctrlKey && !event.metaKey
    if (isWaiting) {
      if (isPlainEnter) event.preventDefault()
      return
    }
    const option = options[active]
    if (option !== undefined) {
      // The same key may also save the page or submit the form, which then must see what was taken.
      flushSync(() => take(option.value))
      if (isPlainEnter && option.value !== value) event.preventDefault()
    } else if (isDecided || isComplete?.(text) === true || isCurrent) {
      if (event.key === 'Enter') flushSync(() => finish(value))
    } else {
      if (hasFailed) retry()
      asking.hurry(text)
      fieldWaits(id)
      setWait({ text, failuresBefore: hasFailed ? suggestions.failures : -1 })
      setFailure(null)
      if (isPlainEnter) event.preventDefault()
    }
  }
  const point = (step: 1 | -1) => {
    setOpen(true)
    if (!isOpen || !isCurrent || options.length === 0) return
    const from = active === -1 && step === -1 ? 0 : active
    setPointed({ text, index: (from + step + options.length) % options.length })
  }
  const keyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    onKeyDown?.(event)
    if (event.defaultPrevented || event.nativeEvent.isComposing) return
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      point(event.key === 'ArrowDown' ? 1 : -1)
    } else if (event.key === 'Escape' && (isOpen || isWaiting)) {
      setOpen(false)
      setWait(null)
      setPointed(null)
      setDecision({ text, isMade: true })
    } else if (event.key === 'Enter' || event.key === 'Tab') accept(event)
  }

  const store = useCombobox({ opened: isOpen, onOpenedChange: setOpen })
  const listId = `${id}-list`
  const optionId = (index: number) => `${id}-option-${index}`
  const note = isCurrent
    ? options.length === 0 && text !== ''
      ? emptyText
      : undefined
    : hasFailed
      ? 'Suggestions did not load.'
      : 'Searching…'
  const isShown = isOpen && (note !== undefined || options.length > 0)
  const hasList = isShown && options.length > 0
  useEffect(() => {
    if (hasList && active !== -1) {
      document.getElementById(`${id}-option-${active}`)?.scrollIntoView({ block: 'nearest' })
    }
  }, [hasList, active, id])

  const shownStatus = isCurrent
    ? [
        note ?? `${counted(options.length, 'suggestion')}.`,
        ...(isDecided || suggestions.taken === null ? [] : [`Enter or Tab takes ${suggestions.taken}.`]),
      ].join(' ')
    : hasFailed
      ? note
      : ''
  const status = isWaiting ? `Searching for ${text}…` : (failedWords ?? (isShown ? shownStatus : takenLate))

  return (
    <Combobox
      store={store}
      onOptionSubmit={take}
      keepMounted={false}
      // Within the page's landmark, where screen readers look for it.
      portalProps={{ target: 'main' }}
      size={field.size ?? 'sm'}
      __staticSelector="TypeAhead"
    >
      <Combobox.Target withAriaAttributes={false} withKeyboardNavigation={false}>
        <InputBase
          autoComplete="off"
          spellCheck={false}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          {...field}
          id={id}
          value={value}
          role="combobox"
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-expanded={hasList}
          aria-controls={hasList ? listId : undefined}
          aria-activedescendant={hasList && active !== -1 ? optionId(active) : undefined}
          data-mantine-stop-propagation={isShown || undefined}
          // It stands still: many fields may wait at once, and each animation would draw the page anew all the time.
          rightSection={isWaiting ? <IconHourglass size={16} aria-hidden /> : null}
          {...(failedWords === null
            ? {}
            : {
                description: failedWords,
                descriptionProps: { style: { color: 'var(--mantine-color-error)' } },
              })}
          inputContainer={(input) => (
            <>
              {input}
              {asking.isEntered && <VisuallyHidden role="status">{status}</VisuallyHidden>}
            </>
          )}
          onChange={(event) => {
            const typed = event.currentTarget.value
            setDecision({ text: typed.trim(), isMade: false })
            setWait(null)
            setPointed(null)
            setTakenLate('')
            setOpen(true)
            onChange(typed)
          }}
          onFocus={(event: FocusEvent<HTMLInputElement>) => {
            asking.enter()
            if (openOnFocus) setOpen(true)
            onFocus?.(event)
          }}
          onClick={() => setOpen(true)}
          onBlur={() => {
            setOpen(false)
            setPointed(null)
            if (isWaiting) return
            if (mayStay) setDecision({ text, isMade: true })
            onDone?.(value)
          }}
          onKeyDown={keyDown}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={!isShown}>
        {note !== undefined && (
          // The field's own status tells screen readers.
          <div className="type-ahead-note" aria-hidden>
            {note}
          </div>
        )}
        {options.length > 0 && (
          <Combobox.Options
            className="type-ahead-list"
            id={listId}
            labelledBy={`${id}-label`}
            data-old={!isCurrent || undefined}
          >
            {options.map((option, index) => (
              <Combobox.Option
                key={option.value}
                id={optionId(index)}
                value={option.value}
                selected={index === active}
                aria-selected={index === active}
              >
                {option.label ?? option.value}
              </Combobox.Option>
            ))}
          </Combobox.Options>
        )}
      </Combobox.Dropdown>
    </Combobox>
  )
}
