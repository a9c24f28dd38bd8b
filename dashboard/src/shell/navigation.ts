import {
  IconApi,
  IconBuilding,
  IconChartBar,
  IconChartLine,
  IconFileImport,
  IconListDetails,
  IconReceipt,
  IconRoute,
  IconRuler,
  IconSettings,
  IconShieldCheck,
  IconTruckDelivery,
  IconUsers,
} from 'virtual:tabler-icons'
import { pageNames, pagePaths } from '#contract/pages.ts'

/**
 * The pages in the menu, with the role that each one needs. Links that only some people see are at the end, so that no link
 * moves when the service answers who is signed in and which steps are left.
 */
export const navigation = [
  { path: pagePaths.desk, label: pageNames[pagePaths.desk], icon: IconReceipt, needs: 'viewer' },
  { path: pagePaths.quotes, label: pageNames[pagePaths.quotes], icon: IconListDetails, needs: 'viewer' },
  {
    path: pagePaths.shipments,
    label: pageNames[pagePaths.shipments],
    icon: IconTruckDelivery,
    needs: 'viewer',
  },
  { path: pagePaths.lane, label: pageNames[pagePaths.lane], icon: IconRoute, needs: 'viewer' },
  {
    path: pagePaths.performance,
    label: pageNames[pagePaths.performance],
    icon: IconChartBar,
    needs: 'viewer',
  },
  {
    path: pagePaths.customers,
    label: pageNames[pagePaths.customers],
    icon: IconBuilding,
    needs: 'viewer',
  },
  { path: pagePaths.market, label: pageNames[pagePaths.market], icon: IconChartLine, needs: 'viewer' },
  { path: pagePaths.rules, label: pageNames[pagePaths.rules], icon: IconRuler, needs: 'viewer' },
  { path: pagePaths.imports, label: pageNames[pagePaths.imports], icon: IconFileImport, needs: 'viewer' },
  { path: pagePaths.team, label: pageNames[pagePaths.team], icon: IconUsers, needs: 'viewer' },
  { path: pagePaths.settings, label: pageNames[pagePaths.settings], icon: IconSettings, needs: 'viewer' },
  { path: pagePaths.integration, label: pageNames[pagePaths.integration], icon: IconApi, needs: 'admin' },
  { path: pagePaths.audit, label: pageNames[pagePaths.audit], icon: IconShieldCheck, needs: 'admin' },
] as const
