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
  /** True for an option that must be chosen on purpose, such as a new customer beside known ones: one arrow key never reaches it. */
  readonly isExplicit?: boolean
}

/** @example typedOption('Smallville, TX').label // 'Use “Smallville, TX” as typed' */
export function typedOption(text: string): Option {
  return { value: text, label: `Use “${text}” as typed`, isExplicit: true }
}

interface Suggestions {
  /** `current`: the options are for `asking.asked`. `loading`: the options are for older text. */
  readonly state: 'current' | 'loading' | 'failed'
  readonly options: readonly Option[]
  /** The value of the option that Enter and Tab accept; null when they accept none. */
  readonly taken: string | null
  readonly failures: number
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
  /** True for a text that is valid as it is, even if nobody enters the field. Absent where any text is valid. */
  readonly isComplete?: (text: string) => boolean
  /** True if leaving the field in any way accepts the option that Tab accepts. */
  readonly acceptsOnLeave?: boolean
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

type Step = 1 | -1
const noSteps: readonly Step[] = []

/**
 * The index of the option that arrow keys lead to. `accepted` is the option that is accepted without them (-1: none). The first key
 * never leads to an explicit option.
 *
 * @example steppedTo([{ value: 'Foxlathe Dairy' }, { value: 'foxl', isExplicit: true }], 0, [1]) // 0
 */
export function steppedTo(options: readonly Option[], accepted: number, steps: readonly Step[]): number {
  const count = options.length
  if (count === 0) return -1
  let at = accepted
  for (const [nth, step] of steps.entries()) {
    const next = ((at === -1 && step === -1 ? 0 : at) + step + count) % count
    const isTooSoon = nth === 0 && options[next]?.isExplicit === true && at !== next
    at = isTooSoon ? Math.max(0, at) : next
  }
  return at
}

/** The state of the field. Every part is valid only for the text that it was set for. */
function useFieldState(text: string) {
  const [isOpen, setOpen] = useState(false)
  const [decision, setDecision] = useState<Decision | null>(null)
  const [stepped, setStepped] = useState<{ text: string; steps: readonly Step[] } | null>(null)
  const [wait, setWait] = useState<Wait | null>(null)
  const [failure, setFailure] = useState<{ text: string; words: string } | null>(null)
  const [acceptedLate, setAcceptedLate] = useState('')
  return {
    isOpen,
    setOpen,
    decision: decision?.text === text ? decision : null,
    decide: (final: string, isMade: boolean) => setDecision({ text: final.trim(), isMade }),
    /** The arrow keys that were pressed, perhaps before the options were there: they apply as soon as they are. */
    steps: stepped?.text === text ? stepped.steps : noSteps,
    step: (by: Step) =>
      setStepped((before) => ({ text, steps: [...(before?.text === text ? before.steps : noSteps), by] })),
    forgetSteps: () => setStepped(null),
    wait: wait?.text === text ? wait : null,
    setWait,
    failedWords: failure?.text === text ? failure.words : null,
    setFailedWords: (words: string | null) => setFailure(words === null ? null : { text, words }),
    /** The announcement for screen readers after an option was accepted from suggestions that arrived later. */
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

/** The option that the field accepts or highlights, and whether it waits. */
function useChoice(id: string, { value, onChange, onDone, asking, suggestions, isComplete }: TypeAheadProps) {
  const text = value.trim()
  const state = useFieldState(text)
  const { decision, wait, decide, setWait, setOpen, steps } = state
  const { options } = suggestions
  const isCurrent = asking.asked === text && suggestions.state === 'current'
  const hasFailed = asking.asked === text && suggestions.state === 'failed'
  const mayStay = isComplete === undefined || isComplete(text)
  const isDecided = text === '' || (decision === null ? mayStay : decision.isMade)
  const accepted = options.findIndex((option) => option.value === suggestions.taken)
  // The option that Enter and Tab accept, even if pressed before the suggestions for this text arrived.
  const pointed = steps.length === 0 ? accepted : steppedTo(options, isDecided ? -1 : accepted, steps)
  // Suggestions for an older text are never highlighted.
  const active = !isCurrent || (steps.length === 0 && isDecided) ? -1 : pointed
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
    if (isComplete?.(text) === true) {
      finish(value)
      return
    }
    setWait(null)
    decide(text, false)
    state.setFailedWords(`${why} “${text}” stays as typed.`)
  }
  const endWait = () => {
    if (wait === null) fieldSettled(id)
    else if (isCurrent) {
      const option = options[pointed]
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
  const isSettled = isCurrent || (isDecided && steps.length === 0)
  return { ...state, text, isCurrent, hasFailed, mayStay, isDecided, isSettled, active, finish, take }
}

type Choice = ReturnType<typeof useChoice>

/**
 * Accepts the highlighted option, keeps a text that is decided, or begins to wait for the suggestions. Returns whether the field
 * now waits.
 */
function settle({ value, asking, suggestions }: TypeAheadProps, id: string, choice: Choice): boolean {
  const { text, hasFailed, active } = choice
  const option = suggestions.options[active]
  if (option !== undefined) choice.take(option.value)
  else if (choice.isSettled) choice.finish(value)
  else {
    if (hasFailed) suggestions.retry()
    asking.hurry(text)
    fieldWaits(id)
    choice.setWait({ text, failuresBefore: hasFailed ? suggestions.failures : -1 })
    choice.setFailedWords(null)
    return true
  }
  return false
}

/** The keys of the field: arrows move the highlight, Enter and Tab accept, Escape closes the list. */
function keyHandler(
  id: string,
  props: TypeAheadProps,
  choice: Choice,
): (event: KeyboardEvent<HTMLInputElement>) => void {
  const { value, asking, suggestions, onKeyDown } = props
  const { text, isOpen, isCurrent, active, wait } = choice
  const accept = (event: KeyboardEvent) => {
    const isPlainEnter = event.key === 'Enter' && !event.ctrlKey && !event.metaKey
    if (wait !== null) {
      if (isPlainEnter) event.preventDefault()
      return
    }
    const option = suggestions.options[active]
    // The loss of the focus finishes the text.
    if (event.key === 'Tab' && option === undefined && choice.isSettled) return
    // The same key can also save the page or submit the form. The handlers must then see the accepted text.
    const waits = flushSync(() => settle(props, id, choice))
    if (isPlainEnter && (waits || (option !== undefined && option.value !== value))) event.preventDefault()
  }
  const move = (step: Step) => {
    choice.setOpen(true)
    if (wait !== null) return
    if (isCurrent) {
      if (isOpen && suggestions.options.length > 0) choice.step(step)
    } else if (text !== '') {
      asking.hurry(text)
      choice.step(step)
    }
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
      choice.forgetSteps()
      choice.decide(text, true)
    } else if (event.key === 'Enter' || event.key === 'Tab') accept(event)
  }
}

function typeText(typed: string, { onChange }: TypeAheadProps, choice: Choice): void {
  choice.decide(typed, false)
  choice.setWait(null)
  choice.forgetSteps()
  choice.setAcceptedLate('')
  choice.setOpen(true)
  onChange(typed)
}

/** Runs when the focus leaves the field. While the field waits for suggestions, its text is not final yet. */
function leave(
  props: TypeAheadProps,
  id: string,
  choice: Choice,
  { currentTarget }: FocusEvent<HTMLInputElement>,
): void {
  choice.setOpen(false)
  if (choice.wait !== null) return
  // Another window or tab has the focus now; this field gets it back.
  const isAway = document.activeElement === currentTarget
  if (props.acceptsOnLeave === true && !choice.isDecided && !isAway) {
    settle(props, id, choice)
    return
  }
  choice.forgetSteps()
  if (choice.mayStay) choice.decide(choice.text, true)
  props.onDone?.(props.value)
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
 * the field. If those suggestions have not arrived, the field waits for them, even after the focus has moved on, and applies
 * the arrow keys that were pressed meanwhile. Typing again cancels the wait, and a failure leaves the text as typed. Suggestions
 * for an older text are dimmed and none is highlighted, but a click accepts exactly the clicked option.
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
    acceptsOnLeave: _acceptsOnLeave,
    emptyText: _emptyText,
    onFocus,
    onKeyDown: _onKeyDown,
    ...field
  } = props
  const id = useId()
  const choice = useChoice(id, props)
  const { isOpen, setOpen, active, failedWords } = choice
  const { note, isShown, status } = wordsOf(props, choice)
  // Within the dialog or the main landmark, so that screen readers find the list.
  const [portal, setPortal] = useState<HTMLElement | 'main'>('main')
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
      portalProps={{ target: portal }}
      // A dialog would cut a list at its end.
      floatingStrategy={portal === 'main' ? 'absolute' : 'fixed'}
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
            setPortal(event.currentTarget.closest<HTMLElement>('[role="dialog"]') ?? 'main')
            if (openOnFocus) setOpen(true)
            onFocus?.(event)
          }}
          onClick={() => setOpen(true)}
          onBlur={(event) => leave(props, id, choice, event)}
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
