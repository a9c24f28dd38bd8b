import {
  IconApi,
  IconChartBar,
  IconChartLine,
  IconFileImport,
  IconListDetails,
  IconReceipt,
  IconRoute,
  IconSettings,
  IconShieldCheck,
  IconTruckDelivery,
  IconUsers,
} from 'virtual:tabler-icons'
import { pagePaths } from '#contract/pages.ts'

/**
 * The pages in the menu, with the role that each one needs. Links that only some people see are at the end, so that no link
 * moves when the service answers who is signed in and which steps are left.
 */
export const navigation = [
  { path: pagePaths.desk, label: 'Quote desk', icon: IconReceipt, needs: 'viewer' },
  { path: pagePaths.quotes, label: 'Quotes', icon: IconListDetails, needs: 'viewer' },
  { path: pagePaths.shipments, label: 'Shipments', icon: IconTruckDelivery, needs: 'viewer' },
  { path: pagePaths.lane, label: 'Lanes', icon: IconRoute, needs: 'viewer' },
  { path: pagePaths.performance, label: 'Performance', icon: IconChartBar, needs: 'viewer' },
  { path: pagePaths.market, label: 'Market', icon: IconChartLine, needs: 'viewer' },
  { path: pagePaths.imports, label: 'Import', icon: IconFileImport, needs: 'viewer' },
  { path: pagePaths.team, label: 'Team', icon: IconUsers, needs: 'viewer' },
  { path: pagePaths.settings, label: 'Settings', icon: IconSettings, needs: 'viewer' },
  { path: pagePaths.integration, label: 'Integration', icon: IconApi, needs: 'admin' },
  { path: pagePaths.audit, label: 'Audit log', icon: IconShieldCheck, needs: 'admin' },
] as const
