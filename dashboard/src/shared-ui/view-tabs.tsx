import { Tabs } from '@mantine/core'
import type { ReactNode } from 'react'

/** The views of a page as tabs. Only the chosen view is rendered; its name is in the address. */
export function ViewTabs<View extends string>({
  label = 'View',
  names,
  view,
  onView,
  children,
}: {
  label?: string
  /** The titles of the tabs, in their order. */
  names: Readonly<Record<View, string>>
  view: View
  onView: (view: View) => void
  children: ReactNode
}) {
  return (
    <Tabs
      value={view}
      onChange={(next) => {
        if (next !== null) onView(next as View)
      }}
      keepMounted={false}
    >
      <Tabs.List aria-label={label}>
        {Object.entries<string>(names).map(([name, title]) => (
          <Tabs.Tab key={name} value={name}>
            {title}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={view} pt="md">
        {children}
      </Tabs.Panel>
    </Tabs>
  )
}
