import { Anchor, Group } from '@mantine/core'
import { Link, useLocation } from '@tanstack/react-router'
import { isAt, pageNames, placeOf } from '#contract/pages.ts'
import { type Role, roleAtLeast } from '#contract/roles.ts'

/** Links between the pages of one place, such as those of Settings. Empty in a place with one page. */
export function SectionLinks({ role }: { role: Role }) {
  const { pathname } = useLocation()
  const place = placeOf(pathname)
  const pages = place?.pages.filter(({ needs }) => roleAtLeast(role, needs)) ?? []
  if (place === undefined || pages.length < 2) return null
  return (
    <nav aria-label={place.label}>
      <Group component="ul" m={0} mb={12} p={0} style={{ listStyle: 'none', gap: '4px 16px' }}>
        {pages.map(({ path }) => (
          <li key={path}>
            <Anchor
              component={Link}
              to={path}
              size="sm"
              lh="24px"
              display="block"
              underline="hover"
              fw={isAt(path, pathname) ? 650 : 400}
              aria-current={isAt(path, pathname) ? 'page' : undefined}
            >
              {pageNames[path]}
            </Anchor>
          </li>
        ))}
      </Group>
    </nav>
  )
}
