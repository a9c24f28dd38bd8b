import {
  IconApi,
  IconBook,
  IconBulb,
  IconChartBar,
  IconChevronDown,
  IconFileImport,
  IconFlag,
  IconListDetails,
  IconMoon,
  IconReceipt,
  IconRoute,
  IconSettings,
  IconShieldCheck,
  IconSun,
  IconTruckDelivery,
  IconUsers,
} from 'virtual:tabler-icons'
import {
  ActionIcon,
  AppShell,
  Badge,
  Burger,
  Group,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  UnstyledButton,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { forgetSession, useAnswer, useChange, useMay, useSession } from '../api/index.ts'
import { useNotice } from '../shared-ui/index.ts'
import { ExpiringTokens } from './expiring-tokens.tsx'
import { useStartHidden } from './first-steps-hidden.ts'
import { SessionKeeper } from './session-keeper.tsx'
import { TestBrokerage } from './test-brokerage.tsx'

const navigation = [
  { path: pagePaths.desk, label: 'Quote desk', icon: IconReceipt, needs: 'viewer' },
  { path: pagePaths.quotes, label: 'Quotes', icon: IconListDetails, needs: 'viewer' },
  { path: pagePaths.shipments, label: 'Shipments', icon: IconTruckDelivery, needs: 'viewer' },
  { path: pagePaths.lane, label: 'Lanes', icon: IconRoute, needs: 'viewer' },
  { path: pagePaths.performance, label: 'Performance', icon: IconChartBar, needs: 'viewer' },
  { path: pagePaths.imports, label: 'Import', icon: IconFileImport, needs: 'viewer' },
  { path: pagePaths.integration, label: 'Integration', icon: IconApi, needs: 'admin' },
  { path: pagePaths.team, label: 'Team', icon: IconUsers, needs: 'viewer' },
  { path: pagePaths.audit, label: 'Audit log', icon: IconShieldCheck, needs: 'admin' },
  { path: pagePaths.settings, label: 'Settings', icon: IconSettings, needs: 'viewer' },
] as const

/** The frame around every page: header with the brokerage's name, navigation, and the user's menu. */
export function Shell() {
  return (
    <SessionKeeper>
      <Frame />
    </SessionKeeper>
  )
}

function Frame() {
  const [opened, { toggle, close }] = useDisclosure()
  const { tenant } = useSession()
  const location = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: closes the menu of narrow screens after each navigation
  useEffect(close, [location.pathname])
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 204, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <a className="skip-link" href="#main">
        Skip to main content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? 'Close the menu' : 'Open the menu'}
            />
            <Text fw={700} c="lane" visibleFrom="xs" style={{ color: 'var(--mantine-color-anchor)' }}>
              Lanewise
            </Text>
            <Text size="sm" truncate title={tenant.name}>
              {tenant.name}
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <ColorSchemeButton />
            <PersonMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        <ScrollArea type="auto">
          <Places />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} style={{ outline: 'none' }}>
        <TestBrokerage />
        <ExpiringTokens />
        <Outlet />
      </AppShell.Main>
    </AppShell>
  )
}

function Places() {
  const { pathname } = useLocation()
  const mayConnect = useMay('admin')
  const steps = useAnswer('first-steps', {}, { staleMs: 60_000 })
  const left = steps.data === undefined ? 0 : Object.values(steps.data).filter((done) => !done).length
  const [isStartHidden] = useStartHidden()
  return (
    <>
      {left > 0 && !isStartHidden && (
        <NavLink
          component={Link}
          to={pagePaths.start}
          label="Get started"
          active={pathname === pagePaths.start}
          leftSection={<IconFlag size={18} aria-hidden />}
          rightSection={
            <Badge size="sm" variant="default" aria-label={`${left} steps left`}>
              {left}
            </Badge>
          }
        />
      )}
      {navigation
        .filter(({ needs }) => needs !== 'admin' || mayConnect)
        .map(({ path, label, icon: Icon }) => {
          const active =
            path === '/' ? pathname === '/' : pathname === path || pathname.startsWith(`${path}/`)
          return (
            <NavLink
              key={path}
              component={Link}
              to={path}
              label={label}
              active={active}
              aria-current={active ? 'page' : undefined}
              leftSection={<Icon size={18} aria-hidden />}
            />
          )
        })}
      <NavLink
        href="/docs/"
        target="_blank"
        rel="noreferrer"
        label="API reference"
        leftSection={<IconBook size={18} aria-hidden />}
      />
    </>
  )
}

function ColorSchemeButton() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const next = colorScheme === 'auto' ? 'light' : colorScheme === 'light' ? 'dark' : 'auto'
  const Icon = colorScheme === 'auto' ? IconBulb : colorScheme === 'light' ? IconSun : IconMoon
  return (
    <ActionIcon
      variant="default"
      size="lg"
      onClick={() => setColorScheme(next)}
      aria-label={`Colors: ${colorScheme === 'auto' ? 'system setting' : colorScheme}. Change to ${next === 'auto' ? 'system setting' : next}`}
    >
      <Icon size={18} aria-hidden />
    </ActionIcon>
  )
}

function PersonMenu() {
  const { user } = useSession()
  const signOut = useChange('sign-out')
  const queries = useQueryClient()
  const navigate = useNavigate()
  const notify = useNotice()
  const leave = (everywhere: boolean) =>
    signOut.mutate(
      { body: { everywhere } },
      {
        onSuccess: () => {
          forgetSession()
          queries.clear()
          void navigate({ to: pagePaths.signIn })
        },
        onError: (error) => notify(`Not signed out: ${error.message}`, { failed: true }),
      },
    )
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <UnstyledButton mih={36} miw={24} aria-label={`${user.name}, ${user.role}: your account`}>
          <Group gap={4} wrap="nowrap">
            <Text size="sm" visibleFrom="xs" maw={180} truncate>
              {user.name}
            </Text>
            <IconChevronDown size={16} aria-hidden />
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {user.email}
          <br />
          Role: {user.role}
        </Menu.Label>
        <Menu.Item component={Link} to={pagePaths.settings}>
          Settings and password
        </Menu.Item>
        <Menu.Item onClick={() => leave(false)}>Sign out</Menu.Item>
        <Menu.Item onClick={() => leave(true)}>Sign out everywhere</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
