import { Button, Group, Notification, Stack } from '@mantine/core'
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react'

interface Notice {
  readonly id: number
  readonly text: string
  readonly failed: boolean
  readonly action: NoticeAction | undefined
}

/** One thing to do about the news, such as undoing what it tells of. */
interface NoticeAction {
  readonly label: string
  readonly run: () => void
}
interface NoticeOptions {
  readonly failed?: boolean
  readonly action?: NoticeAction
}

const Tell = createContext<(text: string, options?: NoticeOptions) => void>(() => {})

const shownMs = 6_000
const shownWithActionMs = 12_000

/** Short news at the foot of the page, read out by screen readers, gone by themselves unless they tell of a failure. */
export function Notices({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([])
  const last = useRef(0)
  const close = useCallback((id: number) => setNotices((all) => all.filter((one) => one.id !== id)), [])
  const tell = useCallback(
    (text: string, { failed = false, action }: NoticeOptions = {}) => {
      const id = ++last.current
      setNotices((all) => [...all.slice(-2), { id, text, failed, action }])
      if (!failed) setTimeout(close, action === undefined ? shownMs : shownWithActionMs, id)
    },
    [close],
  )
  return (
    <Tell.Provider value={useMemo(() => tell, [tell])}>
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
    </Tell.Provider>
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

/** @example const tell = useNotice(); tell('Marked won'); tell(error.message, { failed: true }) */
export function useNotice() {
  return useContext(Tell)
}
