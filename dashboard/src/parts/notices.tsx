import { Notification, Stack } from '@mantine/core'
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react'

interface Notice {
  readonly id: number
  readonly text: string
  readonly failed: boolean
}

const Tell = createContext<(text: string, options?: { failed?: boolean }) => void>(() => {})

const shownMs = 6_000

/** Short news at the foot of the page, read out by screen readers, gone by themselves unless they tell of a failure. */
export function Notices({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([])
  const last = useRef(0)
  const close = useCallback((id: number) => setNotices((all) => all.filter((one) => one.id !== id)), [])
  const tell = useCallback(
    (text: string, { failed = false }: { failed?: boolean } = {}) => {
      const id = ++last.current
      setNotices((all) => [...all.slice(-2), { id, text, failed }])
      if (!failed) setTimeout(close, shownMs, id)
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
            {notice.text}
          </Notification>
        ))}
      </Stack>
    </Tell.Provider>
  )
}

/** @example const tell = useNotice(); tell('Marked won'); tell(error.message, { failed: true }) */
export function useNotice() {
  return useContext(Tell)
}
