import { Kbd, Menu } from '@mantine/core'
import type { Quote } from '#contract/quote.ts'
import { mayRequote } from '../requote/index.ts'
import { asLinkToLane, asLinkToQuote, useCopyAsEmail, useShortcutsSwitch } from '../shared-ui/index.ts'
import type { RowAction } from './quotes-columns.tsx'

export interface OpenedMenu {
  readonly quote: Quote
  readonly from: HTMLElement
}

/** The actions of one quote. All rows share this menu, which opens at the button that was clicked. */
export function QuotesRowMenu({
  opened,
  mayMark,
  act,
  onClose,
}: {
  opened: OpenedMenu
  mayMark: boolean
  act: (action: RowAction, quote: Quote, from: HTMLElement) => void
  onClose: () => void
}) {
  const { quote, from } = opened
  const [letters] = useShortcutsSwitch()
  const copyAsEmail = useCopyAsEmail(quote)
  const { left, bottom } = from.getBoundingClientRect()
  const close = () => {
    onClose()
    from.focus()
  }
  const item = (action: RowAction, label: string, key: string, isOff: boolean) => (
    <Menu.Item
      disabled={isOff}
      rightSection={letters ? <Kbd aria-hidden>{key}</Kbd> : null}
      onClick={() => act(action, quote, from)}
    >
      {label}
    </Menu.Item>
  )
  return (
    <Menu opened onClose={close} position="bottom-end" width={220} returnFocus={false}>
      <Menu.Target>
        <span style={{ position: 'fixed', left: left + 24, top: bottom }} />
      </Menu.Target>
      <Menu.Dropdown aria-label={`Actions for ${quote.lane_ref}`}>
        {mayMark && (
          <>
            {item('won', 'Mark won', 'W', quote.outcome === 'won' || quote.superseded_by !== null)}
            {item('lost', quote.outcome === 'lost' ? 'Change reason' : 'Mark lost', 'L', false)}
            {item('pending', 'Set pending', 'U', quote.outcome === 'pending')}
            {item('requote', 'Requote', 'R', !mayRequote(quote))}
            <Menu.Divider />
          </>
        )}
        <Menu.Item renderRoot={asLinkToQuote(quote.lane_ref)}>Open quote</Menu.Item>
        <Menu.Item renderRoot={asLinkToLane(quote)}>View lane</Menu.Item>
        <Menu.Item onClick={() => act('copy', quote, from)}>Copy quote number</Menu.Item>
        {quote.voided_at === null && quote.superseded_by === null && (
          <Menu.Item onClick={copyAsEmail}>Copy as e-mail</Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
