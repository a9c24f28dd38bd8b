import { IconAlertTriangle, IconCheck } from 'virtual:tabler-icons'
import { Button, Group, Notification, Stack } from '@mantine/core'
import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react'

interface Notice {
  readonly id: number
  readonly text: string
  readonly failed: boolean
  readonly action: NoticeAction | undefined
}

/** An action in a notice, such as undo. */
interface NoticeAction {
  readonly label: string
  readonly run: () => void
}
interface NoticeOptions {
  readonly failed?: boolean
  readonly action?: NoticeAction
}

const NoticeContext = createContext<(text: string, options?: NoticeOptions) => void>(() => {})

const shownMs = 6_000
const shownWithActionMs = 12_000

/** Short notices at the bottom of the page. Screen readers announce them. They close by themselves, except failures. */
export function Notices({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([])
  const last = useRef(0)
  const close = useCallback((id: number) => setNotices((all) => all.filter((one) => one.id !== id)), [])
  const notify = useCallback(
    (text: string, { failed = false, action }: NoticeOptions = {}) => {
      const id = ++last.current
      setNotices((all) => [...all.slice(-2), { id, text, failed, action }])
      if (!failed) setTimeout(close, action === undefined ? shownMs : shownWithActionMs, id)
    },
    [close],
  )
  return (
    <NoticeContext.Provider value={useMemo(() => notify, [notify])}>
      {children}
      <Stack
        aria-live="polite"
        style={{
          position: 'fixed',
          bottom: 16,
          right: 16,
          zIndex: 400,
          width: 'min(26rem, calc(100vw - 2rem))',
        }}
      >
        {notices.map((notice) => (
          <Notification
            key={notice.id}
            color={notice.failed ? 'red' : 'lane'}
            icon={
              notice.failed ? (
                <IconAlertTriangle size={18} aria-hidden />
              ) : (
                <IconCheck size={18} aria-hidden />
              )
            }
            onClose={() => close(notice.id)}
            closeButtonProps={{ 'aria-label': 'Dismiss' }}
          >
            <NoticeText notice={notice} close={() => close(notice.id)} />
          </Notification>
        ))}
      </Stack>
    </NoticeContext.Provider>
  )
}

function NoticeText({ notice: { text, action }, close }: { notice: Notice; close: () => void }) {
  if (action === undefined) return text
  return (
    <Group gap="xs" justify="space-between" wrap="nowrap">
      <span style={{ overflowWrap: 'anywhere' }}>{text}</span>
      <Button
        size="compact-sm"
        variant="default"
        style={{ flexShrink: 0 }}
        onClick={() => {
          close()
          action.run()
        }}
      >
        {action.label}
      </Button>
    </Group>
  )
}

/** Shows notices. @example const notify = useNotice(); notify('Marked won'); notify(error.message, { failed: true }) */
export function useNotice() {
  return useContext(NoticeContext)
}
