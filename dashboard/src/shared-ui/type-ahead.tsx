import './type-ahead.css'
import { IconHourglass } from 'virtual:tabler-icons'
import { Combobox, InputBase, type InputBaseProps, useCombobox, VisuallyHidden } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
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
/** The time that Enter or Tab waits for suggestions. After that, the text stays as typed. */
const acceptTimeoutMs = 10_000

/** The text that suggestions are requested for. It follows the text in the field after a short pause. */
interface Asking {
  readonly asked: string
  /** True once the field has had the focus. A page can have a hundred fields; only focused ones request suggestions. */
  readonly isEntered: boolean
  readonly enter: () => void
  /** Requests suggestions for this text now, without waiting for a pause in typing. */
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
  /** The text of the field once the option is accepted. Unique among the options. */
  readonly value: string
  readonly label?: ReactNode
}

/** @example typedOption('Smallville, TX').label // 'Use “Smallville, TX” as typed' */
export function typedOption(text: string): Option {
  return { value: text, label: `Use “${text}” as typed` }
}

interface Suggestions {
  /** `current`: the options are for `asking.asked`. `loading`: the options are for older text. */
  readonly state: 'current' | 'loading' | 'failed'
  readonly options: readonly Option[]
  /** The value of the option that Enter and Tab accept; null when they accept none. */
  readonly taken: string | null
  /** The number of failed requests. */
  readonly failures: number
  /** Sends the request again after a failure. */
  readonly retry: () => void
}

/** The suggestions of a query. */
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
    /** Called when the text is final: an option was accepted, Enter was pressed, or the field lost the focus. */
    readonly onDone?: (text: string) => void
    readonly openOnFocus?: boolean
  }

interface TypeAheadProps extends FieldProps {
  readonly asking: Asking
  readonly suggestions: Suggestions
  /** True for a text that can stay as typed without checking the suggestions. Absent where any text is valid. */
  readonly isComplete?: (text: string) => boolean
  /** Shown when there is no suggestion for the text. */
  readonly emptyText?: string
}

/** Whether the user is done with a text: accepted a suggestion, or kept the text. Valid only for that text. */
interface Decision {
  readonly text: string
  readonly isMade: boolean
}

/** Enter or Tab was pressed, and the field waits for the suggestions for this text. */
interface Wait {
  readonly text: string
  /** The number of failures before the key was pressed. Those failures do not end the wait. */
  readonly failuresBefore: number
}

/** The state of the field. Every part is valid only for the text that it was set for. */
function useFieldState(text: string) {
  const [isOpen, setOpen] = useState(false)
  const [decision, setDecision] = useState<Decision | null>(null)
  const [pointed, setPointed] = useState<{ text: string; index: number } | null>(null)
  const [wait, setWait] = useState<Wait | null>(null)
  const [failure, setFailure] = useState<{ text: string; words: string } | null>(null)
  const [acceptedLate, setAcceptedLate] = useState('')
  return {
    isOpen,
    setOpen,
    decision: decision?.text === text ? decision : null,
    decide: (final: string, isMade: boolean) => setDecision({ text: final.trim(), isMade }),
    /** The index of the option that the arrow keys moved to. */
    pointed: pointed?.text === text ? pointed.index : null,
    point: (index: number | null) => setPointed(index === null ? null : { text, index }),
    wait: wait?.text === text ? wait : null,
    setWait,
    failedWords: failure?.text === text ? failure.words : null,
    setFailedWords: (words: string | null) => setFailure(words === null ? null : { text, words }),
    /** What screen readers announce after an option was accepted from suggestions that arrived later. */
    acceptedLate,
    setAcceptedLate,
  }
}

/** Runs `onRender` after each render, and `onTimeout` when a wait takes too long. */
function useWait(id: string, isWaiting: boolean, onRender: () => void, onTimeout: () => void): void {
  const afterRender = useEffectEvent(onRender)
  useEffect(() => afterRender())
  const timeOut = useEffectEvent(onTimeout)
  useEffect(() => {
    if (!isWaiting) return
    const timer = setTimeout(() => timeOut(), acceptTimeoutMs)
    return () => clearTimeout(timer)
  }, [isWaiting])
  useEffect(() => () => fieldSettled(id), [id])
}

/** What the field accepts, waits for and highlights. */
function useChoice(id: string, { value, onChange, onDone, asking, suggestions, isComplete }: TypeAheadProps) {
  const text = value.trim()
  const state = useFieldState(text)
  const { decision, wait, decide, setWait, setOpen } = state
  const { options } = suggestions
  const isCurrent = asking.asked === text && suggestions.state === 'current'
  const hasFailed = asking.asked === text && suggestions.state === 'failed'
  const mayStay = isComplete === undefined || isComplete(text)
  const isDecided = text === '' || (decision === null ? mayStay : decision.isMade)
  const accepted = options.findIndex((option) => option.value === suggestions.taken)
  // Suggestions for an older text are never highlighted.
  const active = !isCurrent ? -1 : (state.pointed ?? (isDecided ? -1 : accepted))
  const finish = (final: string) => {
    decide(final, true)
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
    decide(text, false)
    state.setFailedWords(`${why} “${text}” stays as typed.`)
  }
  const endWait = () => {
    if (wait === null) fieldSettled(id)
    else if (isCurrent) {
      const option = options[accepted]
      if (option === undefined) finish(value)
      else {
        take(option.value)
        state.setAcceptedLate(`${option.value} accepted.`)
      }
    } else if (hasFailed && suggestions.failures !== wait.failuresBefore) {
      giveUp('Suggestions did not load.')
    }
  }
  useWait(id, wait !== null, endWait, () => giveUp('Suggestions took too long.'))
  return { ...state, text, isCurrent, hasFailed, mayStay, isDecided, active, finish, take }
}

type Choice = ReturnType<typeof useChoice>

/** The keys of the field: arrows move the highlight, Enter and Tab accept, Escape closes the list. */
function keyHandler(
  id: string,
  { value, asking, suggestions, isComplete, onKeyDown }: TypeAheadProps,
  choice: Choice,
): (event: KeyboardEvent<HTMLInputElement>) => void {
  const { text, isOpen, isCurrent, hasFailed, active, wait } = choice
  const { options } = suggestions
  const accept = (event: KeyboardEvent) => {
    const isPlainEnter = event.key === 'Enter' && !event.ctrlKey && !event.metaKey
    if (wait !== null) {
      if (isPlainEnter) event.preventDefault()
      return
    }
    const option = options[active]
    if (option !== undefined) {
      // The same key can also save the page or submit the form. The handlers must then see the accepted text.
      flushSync(() => choice.take(option.value))
      if (isPlainEnter && option.value !== value) event.preventDefault()
    } else if (choice.isDecided || isComplete?.(text) === true || isCurrent) {
      if (event.key === 'Enter') flushSync(() => choice.finish(value))
    } else {
      if (hasFailed) suggestions.retry()
      asking.hurry(text)
      fieldWaits(id)
      choice.setWait({ text, failuresBefore: hasFailed ? suggestions.failures : -1 })
      choice.setFailedWords(null)
      if (isPlainEnter) event.preventDefault()
    }
  }
  const move = (step: 1 | -1) => {
    choice.setOpen(true)
    if (!isOpen || !isCurrent || options.length === 0) return
    const from = active === -1 && step === -1 ? 0 : active
    choice.point((from + step + options.length) % options.length)
  }
  return (event) => {
    onKeyDown?.(event)
    if (event.defaultPrevented || event.nativeEvent.isComposing) return
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      move(event.key === 'ArrowDown' ? 1 : -1)
    } else if (event.key === 'Escape' && (isOpen || wait !== null)) {
      choice.setOpen(false)
      choice.setWait(null)
      choice.point(null)
      choice.decide(text, true)
    } else if (event.key === 'Enter' || event.key === 'Tab') accept(event)
  }
}

function typeText(typed: string, { onChange }: TypeAheadProps, choice: Choice): void {
  choice.decide(typed, false)
  choice.setWait(null)
  choice.point(null)
  choice.setAcceptedLate('')
  choice.setOpen(true)
  onChange(typed)
}

/** The focus leaves the field. While the field waits for suggestions, its text is not final yet. */
function leave({ value, onDone }: TypeAheadProps, choice: Choice): void {
  choice.setOpen(false)
  choice.point(null)
  if (choice.wait !== null) return
  if (choice.mayStay) choice.decide(choice.text, true)
  onDone?.(value)
}

/** The note in the list, and the status that screen readers announce. */
function wordsOf({ suggestions, emptyText }: TypeAheadProps, choice: Choice) {
  const { text, isCurrent, hasFailed, wait, failedWords, acceptedLate } = choice
  const { options, taken } = suggestions
  const note = isCurrent
    ? options.length === 0 && text !== ''
      ? emptyText
      : undefined
    : hasFailed
      ? 'Suggestions did not load.'
      : 'Searching…'
  const isShown = choice.isOpen && (note !== undefined || options.length > 0)
  const listStatus = isCurrent
    ? [
        note ?? `${counted(options.length, 'suggestion')}.`,
        ...(choice.isDecided || taken === null ? [] : [`Press Enter or Tab to accept ${taken}.`]),
      ].join(' ')
    : hasFailed
      ? note
      : ''
  const status =
    wait === null ? (failedWords ?? (isShown ? listStatus : acceptedLate)) : `Searching for ${text}…`
  return { note, isShown, status }
}

/**
 * A text field that suggests values while the user types. All such fields of the dashboard use this component.
 *
 * Enter and Tab do the same: they accept the highlighted option, but only from suggestions for the text that is now in
 * the field. If those suggestions have not arrived, the field waits for them, even after the focus has moved on. Typing
 * again cancels the wait, and a failure leaves the text as typed. Suggestions for an older text are dimmed and none is
 * highlighted, but a click accepts exactly the clicked option.
 */
export function TypeAhead(props: TypeAheadProps) {
  const {
    value,
    onChange: _onChange,
    onDone: _onDone,
    openOnFocus = true,
    asking,
    suggestions,
    isComplete: _isComplete,
    emptyText: _emptyText,
    onFocus,
    onKeyDown: _onKeyDown,
    ...field
  } = props
  const id = useId()
  const choice = useChoice(id, props)
  const { isOpen, setOpen, active, failedWords } = choice
  const { note, isShown, status } = wordsOf(props, choice)
  const store = useCombobox({ opened: isOpen, onOpenedChange: setOpen })
  const hasList = isShown && suggestions.options.length > 0
  useEffect(() => {
    if (hasList && active !== -1) {
      document.getElementById(optionId(id, active))?.scrollIntoView({ block: 'nearest' })
    }
  }, [hasList, active, id])
  return (
    <Combobox
      store={store}
      onOptionSubmit={choice.take}
      keepMounted={false}
      // Within the main landmark, so that screen readers find the list.
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
          {...listAttributes(id, hasList, active)}
          id={id}
          value={value}
          data-mantine-stop-propagation={isShown || undefined}
          // Not animated: many fields can wait at once, and each animation would repaint the page continuously.
          rightSection={choice.wait === null ? null : <IconHourglass size={16} aria-hidden />}
          {...(failedWords === null ? {} : { description: failedWords, descriptionProps: errorColor })}
          inputContainer={(input) => (
            <>
              {input}
              {asking.isEntered && <VisuallyHidden role="status">{status}</VisuallyHidden>}
            </>
          )}
          onChange={(event) => typeText(event.currentTarget.value, props, choice)}
          onFocus={(event: FocusEvent<HTMLInputElement>) => {
            asking.enter()
            if (openOnFocus) setOpen(true)
            onFocus?.(event)
          }}
          onClick={() => setOpen(true)}
          onBlur={() => leave(props, choice)}
          onKeyDown={keyHandler(id, props, choice)}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={!isShown}>
        <OptionList id={id} note={note} options={suggestions.options} choice={choice} />
      </Combobox.Dropdown>
    </Combobox>
  )
}

const errorColor = { style: { color: 'var(--mantine-color-error)' } }
const listId = (id: string) => `${id}-list`
const optionId = (id: string, index: number) => `${id}-option-${index}`

/** The attributes that connect the field with its list for screen readers. */
function listAttributes(id: string, hasList: boolean, active: number) {
  return {
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-haspopup': 'listbox',
    'aria-expanded': hasList,
    'aria-controls': hasList ? listId(id) : undefined,
    'aria-activedescendant': hasList && active !== -1 ? optionId(id, active) : undefined,
  } as const
}

function OptionList({
  id,
  note,
  options,
  choice: { isCurrent, active },
}: {
  id: string
  note: string | undefined
  options: readonly Option[]
  choice: Choice
}) {
  return (
    <>
      {note !== undefined && (
        // Hidden from screen readers: the field's status announces the note.
        <div className="type-ahead-note" aria-hidden>
          {note}
        </div>
      )}
      {options.length > 0 && (
        <Combobox.Options
          className="type-ahead-list"
          id={listId(id)}
          labelledBy={`${id}-label`}
          data-old={!isCurrent || undefined}
        >
          {options.map((option, index) => (
            <Combobox.Option
              key={option.value}
              id={optionId(id, index)}
              value={option.value}
              selected={index === active}
              aria-selected={index === active}
            >
              {option.label ?? option.value}
            </Combobox.Option>
          ))}
        </Combobox.Options>
      )}
    </>
  )
}
