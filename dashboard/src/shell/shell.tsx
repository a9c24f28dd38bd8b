import { IconBulb, IconChevronDown, IconFlag, IconMoon, IconSun } from 'virtual:tabler-icons'
import {
  ActionIcon,
  AppShell,
  Badge,
  Burger,
  Group,
  Menu,
  NavLink,
  ScrollArea,
  Stack,
  Text,
  Title,
  UnstyledButton,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { Fragment, type ReactNode, useEffect } from 'react'
import { isAt, type NamedPage, type Place, pageNames, pagePaths, places } from '#contract/pages.ts'
import {
  type Answer,
  forgetSession,
  sessionQuery,
  useAnswer,
  useChange,
  useMay,
  useSession,
} from '../api/index.ts'
import { AnswersBadge, ToDecideBadge } from '../approvals/index.ts'
import { Failed, Loading, showTimeZone, useNotice } from '../shared-ui/index.ts'
import { ExpiringTokens } from './expiring-tokens.tsx'
import { stepsLeft, useStartHidden } from './first-steps-hidden.ts'
import { firstPageOf, iconOf } from './navigation.ts'
import { PageShortcuts, PaletteButton } from './page-shortcuts.tsx'
import { SectionLinks } from './section-links.tsx'
import { SessionKeeper } from './session-keeper.tsx'
import { TestBrokerage } from './test-brokerage.tsx'

const forEveryone = places.filter(({ needs }) => needs === 'viewer')
const forAdmins = places.filter(({ needs }) => needs === 'admin')
const nameOfPage = new Map<string, string>(Object.entries(pageNames))

/**
 * The frame around every page: header with the brokerage's name, navigation, and the user's menu. It is there before the
 * session is known. Without a session, it opens the sign-in page, which leads back.
 */
export function Shell() {
  const { data: session, error } = useQuery(sessionQuery)
  const { href } = useLocation()
  const navigate = useNavigate()
  const isSignedOut = session === undefined && error?.status === 401
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address of the sign-in page must not become the next one
  useEffect(() => {
    if (!isSignedOut) return
    void navigate({ to: pagePaths.signIn, search: href === '/' ? {} : { next: href }, replace: true })
  }, [isSignedOut])
  // Set before the pages within this frame are drawn.
  if (session !== undefined) showTimeZone(session.tenant.time_zone)
  return (
    <Layout session={session}>
      {session === undefined ? (
        <PageOutline />
      ) : (
        <SessionKeeper>
          {/* Another brokerage, such as the test brokerage, begins with new pages. */}
          <Fragment key={session.tenant.id}>
            <TestBrokerage />
            <ExpiringTokens />
            <Outlet />
            <PageShortcuts />
          </Fragment>
        </SessionKeeper>
      )}
    </Layout>
  )
}

/** A placeholder for the page while it is unknown who is signed in. */
function PageOutline() {
  const { error, refetch } = useQuery(sessionQuery)
  const { pathname } = useLocation()
  const name = nameOfPage.get(pathname)
  return (
    <Stack gap="lg">
      {name !== undefined && (
        <Title order={1} size="h2">
          {name}
        </Title>
      )}
      {error === null || error.status === 401 ? (
        <Loading label="Loading the page" />
      ) : (
        <Failed error={error} retry={() => void refetch()} />
      )}
    </Stack>
  )
}

function Layout({ session, children }: { session: Answer<'me'> | undefined; children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure()
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
            <Text size="sm" truncate title={session?.tenant.name}>
              {session?.tenant.name}
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <PaletteButton />
            <ColorSchemeButton />
            {session !== undefined && <PersonMenu />}
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        <ScrollArea type="auto">
          {forEveryone.map((place) => (
            <PlaceLink key={place.label} place={place} hasBadge={session !== undefined} />
          ))}
          {session !== undefined && <OwnLinks />}
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} style={{ outline: 'none' }}>
        {/* Until the role is known, only the links that everyone sees. The others are at the end, so no link moves. */}
        <SectionLinks role={session?.user.role ?? 'viewer'} />
        {children}
      </AppShell.Main>
    </AppShell>
  )
}

/** The counts of approvals that wait for the signed-in person, by their place in the menu. */
const badges: Readonly<Partial<Record<NamedPage, ReactNode>>> = {
  [pagePaths.desk]: <AnswersBadge />,
  [pagePaths.approvals]: <ToDecideBadge />,
}

/** The link to a place. It is active on each page of the place. */
function PlaceLink({ place, hasBadge = false }: { place: Place; hasBadge?: boolean }) {
  return (
    <PageLink
      path={firstPageOf(place)}
      pages={place.pages.map(({ path }) => path)}
      label={place.label}
      icon={iconOf(place)}
      badge={hasBadge ? badges[firstPageOf(place)] : undefined}
    />
  )
}

function PageLink({
  path,
  pages = [path],
  label,
  icon: Icon,
  badge,
}: {
  path: NamedPage
  pages?: readonly string[]
  label: string
  icon: typeof IconFlag
  badge?: ReactNode
}) {
  const { pathname } = useLocation()
  const active = pages.some((page) => isAt(page, pathname))
  return (
    <NavLink
      component={Link}
      to={path}
      label={label}
      active={active}
      aria-current={pathname === path ? 'page' : active ? 'true' : undefined}
      leftSection={<Icon size={18} aria-hidden />}
      rightSection={badge}
    />
  )
}

/** The links that only some people see: for admins, and for brokerages with first steps left. */
function OwnLinks() {
  const mayConnect = useMay('admin')
  const steps = useAnswer('first-steps', {}, { staleMs: 60_000 })
  const left = steps.data === undefined ? 0 : stepsLeft(steps.data)
  const [isStartHidden] = useStartHidden()
  return (
    <>
      {mayConnect && forAdmins.map((place) => <PlaceLink key={place.label} place={place} />)}
      {left > 0 && !isStartHidden && (
        <PageLink
          path={pagePaths.start}
          label={pageNames[pagePaths.start]}
          icon={IconFlag}
          badge={
            <Badge size="sm" variant="default" aria-label={`${left} steps left`}>
              {left}
            </Badge>
          }
        />
      )}
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
  // Admins have it in the menu.
  const isAdmin = useMay('admin')
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
        <Menu.Item component={Link} to={pagePaths.account}>
          Your account
        </Menu.Item>
        {!isAdmin && (
          <Menu.Item component={Link} to={pagePaths.settings}>
            Settings
          </Menu.Item>
        )}
        <Menu.Item component="a" href="/docs/" target="_blank" rel="noreferrer">
          API reference
        </Menu.Item>
        <Menu.Item onClick={() => leave(false)}>Sign out</Menu.Item>
        <Menu.Item onClick={() => leave(true)}>Sign out everywhere</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
